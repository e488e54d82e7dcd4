import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { syncFolder } from '@gantry/embedded-postgres/data-folder';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import type { Config } from '../platform/config.ts';
import { makeFolder, SegmentFiles } from './segments.ts';

/**
 * A store of files that are named by their content, so that a name always denotes the same bytes. Keys are 64
 * hexadecimal digits. Errors of the store are thrown unchanged.
 */
export interface BlobStore extends AsyncDisposable {
  /** Stores a file; it is durable when this resolves. An existing file stays or is replaced by an identical one. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** The bytes of a file, whatever they are; null when there is none. */
  get(key: string): Promise<Readable | null>;
  /** The size of a file in bytes; null when there is none. */
  stat(key: string): Promise<{ readonly bytes: number } | null>;
  /** Removes a file if it exists. */
  delete(key: string): Promise<void>;
  /** All files, in no particular order. */
  list(): AsyncIterable<{ readonly key: string; readonly bytes: number }>;
}

const KEY = /^[0-9a-f]{64}$/;
const FIRST_FOLDER = /^[0-9a-f]{2}$/;

/**
 * Files in 65,536 nested folders: the key `abcd…` is stored in `ab/cd`. A folder goes with its last file, so nothing may be
 * stored while something is deleted.
 */
export function createDiskBlobs(folder: string): BlobStore {
  const pathOf = (key: string): string => {
    if (!KEY.test(key)) throw new Error(`Not a key: ${key}`);
    return join(folder, key.slice(0, 2), key.slice(2, 4), key);
  };

  return {
    async put(key, bytes) {
      const path = pathOf(key);
      await makeFolder(dirname(path));
      const draft = `${path}.${randomUUID()}`;
      try {
        await writeDurably(draft, bytes);
        await rename(draft, path);
      } finally {
        await rm(draft, { force: true });
      }
      await syncFolder(dirname(path));
    },

    async get(key) {
      const file = await ignoreErrno(open(pathOf(key), 'r'), 'ENOENT');
      return file === undefined ? null : createReadStream('', { fd: file });
    },

    async stat(key) {
      const found = await ignoreErrno(stat(pathOf(key)), 'ENOENT');
      return found === undefined ? null : { bytes: found.size };
    },

    async delete(key) {
      const path = pathOf(key);
      await rm(path, { force: true });
      // A folder that still has files stays.
      for (const above of [dirname(path), dirname(dirname(path))]) {
        await ignoreErrno(rmdir(above), 'ENOENT', 'ENOTEMPTY');
      }
    },

    async *list() {
      for (const first of (await namesIn(folder)).filter((name) => FIRST_FOLDER.test(name))) {
        for (const second of await namesIn(join(folder, first))) {
          for (const key of await namesIn(join(folder, first, second))) {
            if (!KEY.test(key)) continue;
            const found = await ignoreErrno(stat(pathOf(key)), 'ENOENT');
            if (found !== undefined) yield { key, bytes: found.size };
          }
        }
      }
    },

    async [Symbol.asyncDispose]() {},
  };
}

async function namesIn(folder: string): Promise<string[]> {
  return (await ignoreErrno(readdir(folder), 'ENOENT')) ?? [];
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The location and the credentials of an S3-compatible store. */
interface S3Options {
  readonly bucket: string;
  /** undefined for Amazon's own. */
  readonly endpoint: string | undefined;
  readonly region: string;
  /** undefined for the defaults of the AWS SDK, such as the role of the machine. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

/** The service uses only keys with this prefix. */
const PREFIX = 'images/';

/** Time limit for an answer; two attempts stay within the time limit of a request. */
const ANSWER_MS = 8_000;
const CONNECT_MS = 3_000;

/**
 * Reading a file is given up when no data arrives for this time, in milliseconds. It is long, because the client that
 * reads the file may be slow.
 */
const SILENCE_MS = 30_000;
const ATTEMPTS = 2;

/** Files in a bucket of an S3-compatible store. It is not contacted before the first file. */
export async function createS3Blobs(options: S3Options): Promise<BlobStore> {
  const {
    S3Client,
    PutObjectCommand,
    GetObjectCommand,
    HeadObjectCommand,
    DeleteObjectCommand,
    paginateListObjectsV2,
  } = await loadSdk();
  const client: S3Client = new S3Client({
    region: options.region,
    ...(options.endpoint !== undefined && { endpoint: options.endpoint, forcePathStyle: true }),
    ...(options.credentials && { credentials: options.credentials }),
    maxAttempts: ATTEMPTS,
    requestHandler: {
      requestTimeout: ANSWER_MS,
      connectionTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      throwOnRequestTimeout: true,
    },
    // Some compatible stores do not support Amazon's newer checksums, and the key is a checksum already.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const at = (key: string) => ({ Bucket: options.bucket, Key: `${PREFIX}${key}` });

  return {
    async put(key, bytes) {
      await client.send(new PutObjectCommand({ ...at(key), Body: bytes, ContentLength: bytes.length }));
    },

    async get(key) {
      const found = await orNull(client.send(new GetObjectCommand(at(key))));
      return found?.Body instanceof Readable ? found.Body : null;
    },

    async stat(key) {
      const found = await orNull(client.send(new HeadObjectCommand(at(key))));
      return found === null ? null : { bytes: found.ContentLength ?? 0 };
    },

    async delete(key) {
      await client.send(new DeleteObjectCommand(at(key)));
    },

    async *list() {
      for await (const page of paginateListObjectsV2(
        { client },
        { Bucket: options.bucket, Prefix: PREFIX },
      )) {
        for (const { Key, Size } of page.Contents ?? []) {
          if (Key !== undefined) yield { key: Key.slice(PREFIX.length), bytes: Size ?? 0 };
        }
      }
    },

    async [Symbol.asyncDispose]() {
      client.destroy();
    },
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && (error.name === 'NoSuchKey' || error.name === 'NotFound');
}

async function orNull<Found>(promise: Promise<Found>): Promise<Found | null> {
  try {
    return await promise;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Loading the SDK takes a quarter of a second, so it is loaded only when needed. */
function loadSdk() {
  return import('@aws-sdk/client-s3');
}

/** The images of an installation: most are in segments; some have a file or an object of their own. */
export interface ImageFiles extends AsyncDisposable {
  readonly blobs: BlobStore;
  readonly segments: SegmentFiles;
  /** Whether new images become objects, and do not go into segments. */
  readonly storesObjects: boolean;
}

/** The image store that the configuration selects. It is not accessed yet. */
export async function openImageFiles(config: Config): Promise<ImageFiles> {
  const onDisk = imageFilesAt(join(config.DATA_DIR, 'images'));
  if (config.S3_BUCKET === undefined) return onDisk;
  const blobs = await createS3Blobs({
    bucket: config.S3_BUCKET,
    endpoint: config.S3_ENDPOINT,
    region: config.S3_REGION,
    credentials: credentialsOf(config),
  });
  return {
    ...onDisk,
    blobs,
    storesObjects: true,
    [Symbol.asyncDispose]: () => blobs[Symbol.asyncDispose](),
  };
}

/** Images in a folder: segments, and files of their own. */
export function imageFilesAt(folder: string): ImageFiles {
  return {
    blobs: createDiskBlobs(folder),
    segments: new SegmentFiles(join(folder, 'segments')),
    storesObjects: false,
    async [Symbol.asyncDispose]() {},
  };
}

function credentialsOf({ S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey }: Config) {
  return accessKeyId === undefined || secretAccessKey === undefined
    ? undefined
    : { accessKeyId, secretAccessKey };
}
