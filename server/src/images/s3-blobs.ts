import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { BlobStore } from './blobs.ts';

/** The location and the credentials of an S3-compatible store. */
export interface S3Options {
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
