import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { syncFolder } from '@gantry/embedded-postgres/data-folder';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import pLimit from 'p-limit';
import { imageFilesAt } from '../../images/blobs.ts';
import { makeFolder, type SegmentFiles } from '../../images/segments.ts';
import type { LocatedImage } from '../../images/verify.ts';
import {
  contentBytesOf,
  type Decryption,
  ENCRYPTED_SUFFIX,
  type Encryption,
  POOL,
  readDecrypted,
} from './encryption.ts';
import { BackupRefused } from './refusal.ts';

/** Number of images that are processed at the same time. */
const AT_ONCE = 8;

/** Maximum number of images that are processed or wait for it, so that a list of any length needs little memory. */
const WAITING = 64;

/** The folder of the images of an archive, which is beside it. */
export function poolOf(archive: string, name: string = POOL): string {
  return join(dirname(archive), name);
}

/** The path of an image in the pool, which is the folder of the images of all backups. */
export function pathInPool(pool: string, sha256: string): string {
  return join(pool, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
}

const LINE = /^([0-9a-f]{64})\t(\d{1,15})(?:\t(?:(\d{4}-\d{2}-[0-9a-f-]{36})\t(\d{1,10})|\t))?$/;
const MAX_LINE = 140;

/**
 * Reads a list of images, as `imagesOut` writes it, or as versions without segments wrote it.
 * @throws BackupRefused at the first line that is anything else, and so before a path is made of it
 */
export async function* readImageList(text: Readable): AsyncGenerator<LocatedImage> {
  let number = 0;
  const read = (line: string): LocatedImage => {
    number++;
    const [, sha256, bytes, segment = null, position] = LINE.exec(line) ?? [];
    if (sha256 !== undefined) {
      return {
        sha256,
        bytes: Number(bytes),
        segment,
        position: position === undefined ? null : Number(position),
      };
    }
    throw new BackupRefused(
      `The list of images of the backup is damaged: line ${number} is not a hash and a size. Use another backup`,
    );
  };
  let rest = '';
  for await (const chunk of text) {
    const lines = (rest + (chunk as Buffer).toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.map(read);
    if (rest.length > MAX_LINE) read(rest);
  }
  if (rest !== '') yield read(rest);
}

/** Does work for each image, several at once. The first failure ends it. */
export async function forEachImage(
  images: AsyncIterable<LocatedImage>,
  work: (image: LocatedImage) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const inTurn = pLimit(AT_ONCE);
  const underway = new Set<Promise<void>>();
  let failure: unknown;
  let hasFailed = false;
  for await (const image of images) {
    signal?.throwIfAborted();
    if (hasFailed) break;
    const one: Promise<void> = inTurn(() => (hasFailed ? undefined : work(image)))
      .catch((error: unknown) => {
        failure ??= error;
        hasFailed = true;
      })
      .finally(() => underway.delete(one)) as Promise<void>;
    underway.add(one);
    if (underway.size >= WAITING) await Promise.race(underway);
  }
  await Promise.all(underway);
  if (hasFailed) throw failure;
}

/** Where copies of segments are made. */
export interface CopyTarget {
  readonly folder: string;
  pathOf(name: string): string;
  /** How many bytes of a segment it has. */
  sizeOf(name: string): Promise<number>;
  /** Writes the content of a segment to a file. */
  write(file: FileHandle, name: string): Promise<void>;
}

async function writeAll(file: FileHandle, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) await file.writeFile(chunk);
}

/**
 * Copies segments as they are. What a copy has already stays as it is: the original may have been damaged since.
 */
export function plainCopies(from: SegmentFiles, to: SegmentFiles): CopyTarget {
  return {
    folder: to.folder,
    pathOf: (name) => to.pathOf(name),
    sizeOf: (name) => to.sizeOf(name),
    async write(file, name) {
      const present = await to.sizeOf(name);
      if (present > 0) await writeAll(file, createReadStream(to.pathOf(name)));
      if ((await from.sizeOf(name)) > present) {
        await writeAll(file, createReadStream(from.pathOf(name), { start: present }));
      }
    },
  };
}

/** Encrypts copies. One that grew is encrypted again as a whole, because what it has cannot be read. */
export function encryptedCopies(from: SegmentFiles, to: SegmentFiles, encryption: Encryption): CopyTarget {
  const pathOf = (name: string): string => `${to.pathOf(name)}${ENCRYPTED_SUFFIX}`;
  return {
    folder: to.folder,
    pathOf,
    sizeOf: (name) => contentBytesOf(pathOf(name)),
    write: (file, name) => writeAll(file, encryption.encryptAll(createReadStream(from.pathOf(name)))),
  };
}

/** Decrypts copies. */
export function decryptedCopies(from: SegmentFiles, to: SegmentFiles, decryption: Decryption): CopyTarget {
  return {
    folder: to.folder,
    pathOf: (name) => to.pathOf(name),
    sizeOf: (name) => to.sizeOf(name),
    write: (file, name) =>
      writeAll(file, readDecrypted(`${from.pathOf(name)}${ENCRYPTED_SUFFIX}`, decryption)),
  };
}

/**
 * Writes a file, so that it appears complete or not at all. Its content is durable when this resolves; its name is durable
 * once its folder is synchronised.
 */
async function writeWhole(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  // Only one process writes to the folder at a time, so a draft of this name was left by one that was killed.
  const draft = `${path}.new`;
  const file = await open(draft, 'w', 0o600);
  try {
    await write(file);
    await file.datasync();
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

/** Copies the segments of images, each at most once. */
export class SegmentCopies {
  readonly #to: CopyTarget;
  readonly #inTurn = pLimit(1);
  readonly #sizes = new Map<string, number>();
  readonly #copied = new Set<string>();

  constructor(to: CopyTarget) {
    this.#to = to;
  }

  /** Makes sure that the copy has a segment up to an end. @returns whether the copy had it before */
  ensure(name: string, end: number): Promise<boolean> {
    return this.#inTurn(async () => {
      const before = this.#sizes.get(name) ?? (await this.#to.sizeOf(name));
      this.#sizes.set(name, before);
      if (before >= end) return true;
      if (!this.#copied.has(name)) {
        this.#copied.add(name);
        await makeFolder(this.#to.folder);
        // It appears complete or not at all.
        await writeWhole(this.#to.pathOf(name), (file) => this.#to.write(file, name));
        await syncFolder(this.#to.folder);
      }
      return false;
    });
  }
}

/** The path of an encrypted image, or of the segment that contains it. */
function encryptedPathOf(pool: string, { sha256, segment }: LocatedImage): string {
  const path = segment === null ? pathInPool(pool, sha256) : imageFilesAt(pool).segments.pathOf(segment);
  return `${path}${ENCRYPTED_SUFFIX}`;
}

/** Checks by sizes that an encrypted image is there. @returns the path of what lacks it; null if it is there */
export async function hasContent(pool: string, image: LocatedImage): Promise<string | null> {
  const path = encryptedPathOf(pool, image);
  const end = (image.position ?? 0) + image.bytes;
  return (await contentBytesOf(path)) >= end ? null : path;
}

/** An image of an encrypted pool. */
export interface DecryptedImage {
  readonly image: LocatedImage;
  readonly path: string;
  /** null if it is missing or cannot be decrypted. */
  readonly content: Buffer | null;
}

/** Decrypts the images of a list one after another. Each segment is decrypted once, because the list has the order of segments. */
export async function forEachContent(
  { pool, decryption, lacking }: { pool: string; decryption: Decryption; lacking: ReadonlySet<string> },
  images: AsyncIterable<LocatedImage>,
  work: (image: DecryptedImage) => Promise<void>,
): Promise<void> {
  let content: DecryptedBytes | undefined;
  try {
    for await (const image of images) {
      if (lacking.has(image.sha256)) continue;
      const path = encryptedPathOf(pool, image);
      if (content?.path !== path) {
        await content?.close();
        content = new DecryptedBytes(path, readDecrypted(path, decryption));
      }
      await work({ image, path, content: await content.read(image.position ?? 0, image.bytes) });
    }
  } finally {
    await content?.close();
  }
}

/** Bytes that arrive in order, of which some are wanted. */
class DecryptedBytes {
  readonly path: string;
  readonly #chunks: AsyncGenerator<Buffer>;
  #held: Buffer = Buffer.alloc(0);
  #at = 0;
  #hasFailed = false;

  constructor(path: string, chunks: AsyncGenerator<Buffer>) {
    this.path = path;
    this.#chunks = chunks;
  }

  /** The bytes from a position, which is not before the end of those read last; null if there are none. */
  async read(position: number, bytes: number): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    let wanted = bytes;
    while (wanted > 0) {
      const start = Math.max(0, position + bytes - wanted - this.#at);
      const part = this.#held.subarray(start, start + wanted);
      parts.push(part);
      wanted -= part.length;
      if (wanted > 0 && !(await this.#next())) return null;
    }
    return Buffer.concat(parts, bytes);
  }

  async close(): Promise<void> {
    await this.#chunks.return(undefined).catch(() => undefined);
  }

  async #next(): Promise<boolean> {
    if (this.#hasFailed) return false;
    const next = await this.#chunks.next().catch(() => null);
    if (next === null || next.done) {
      this.#hasFailed = true;
      return false;
    }
    this.#at += this.#held.length;
    this.#held = next.value;
    return true;
  }
}

/**
 * Adds an image to the pool. Its content is durable when this resolves; its name is durable once its folder is
 * synchronised.
 * @returns its folder
 */
export async function addToPool(
  pool: string,
  sha256: string,
  bytes: Uint8Array,
  encryption: Encryption | null,
): Promise<string> {
  const plain = pathInPool(pool, sha256);
  const path = encryption === null ? plain : `${plain}${ENCRYPTED_SUFFIX}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const stored = encryption === null ? bytes : await encryption.encrypt(bytes);
  await writeWhole(path, (file) => file.writeFile(stored));
  return dirname(path);
}

/**
 * Removes the images of the pool that no list names, and what backups that were killed left there.
 * @param lists as `imagesOut` writes them
 * @returns the number of files that were removed
 */
export async function removeUnlisted(
  pool: string,
  lists: readonly AsyncIterator<LocatedImage>[],
): Promise<number> {
  const heads = await Promise.all(lists.map((list) => nextOf(list)));
  const isListed = async (sha256: string): Promise<boolean> => {
    let found = false;
    for (const [at, list] of lists.entries()) {
      let head = heads[at];
      while (head?.segment === null && head.sha256 < sha256) {
        head = await nextOf(list);
        heads[at] = head;
      }
      if (head?.segment === null && head.sha256 === sha256) found = true;
    }
    return found;
  };
  let removed = 0;
  for (const first of (await sortedNames(pool)).filter((name) => HEX_FOLDER.test(name))) {
    for (const second of await sortedNames(join(pool, first))) {
      for (const name of await sortedNames(join(pool, first, second))) {
        if (IMAGE_NAME.test(name) && (await isListed(name.slice(0, HASH_DIGITS)))) continue;
        await rm(join(pool, first, second, name), { force: true });
        removed++;
      }
    }
  }
  const segments = new Set<string>();
  for (const [at, list] of lists.entries()) {
    for (let head = heads[at]; head; head = await nextOf(list)) {
      if (head.segment !== null) segments.add(head.segment);
    }
  }
  const { folder } = imageFilesAt(pool).segments;
  for (const name of await sortedNames(folder)) {
    if (segments.has(name.endsWith(ENCRYPTED_SUFFIX) ? name.slice(0, -ENCRYPTED_SUFFIX.length) : name))
      continue;
    await rm(join(folder, name), { force: true });
    removed++;
  }
  return removed;
}

const HASH_DIGITS = 64;
const IMAGE_NAME = /^[0-9a-f]{64}(?:\.age)?$/;
const HEX_FOLDER = /^[0-9a-f]{2}$/;

async function nextOf(list: AsyncIterator<LocatedImage>): Promise<LocatedImage | undefined> {
  const { value, done } = await list.next();
  return done ? undefined : value;
}

async function sortedNames(folder: string): Promise<string[]> {
  return ((await ignoreErrno(readdir(folder), 'ENOENT', 'ENOTDIR')) ?? []).sort();
}
