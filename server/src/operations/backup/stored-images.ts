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
import { BackupRefused } from './refusal.ts';

/** Number of images that are processed at the same time. */
const AT_ONCE = 8;

/** Maximum number of images that are processed or wait for it, so that a list of any length needs little memory. */
const WAITING = 64;

/** The folder of the images of all backups, which are beside it. Its files are named by their hashes. */
export const POOL = 'pictures';

/** The folder of the images of an archive, which is beside it. */
export function poolOf(archive: string): string {
  return join(dirname(archive), POOL);
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

/**
 * Copies a segment, so that it appears complete or not at all. What the copy has already stays as it is: the original may
 * have been damaged since.
 */
async function copySegment(from: SegmentFiles, to: SegmentFiles, name: string): Promise<void> {
  const path = to.pathOf(name);
  await makeFolder(to.folder);
  const present = await to.sizeOf(name);
  const isLonger = (await from.sizeOf(name)) > present;
  await writeWhole(path, async (file) => {
    const write = async (source: Readable): Promise<void> => {
      for await (const chunk of source) await file.writeFile(chunk as Buffer);
    };
    if (present > 0) await write(createReadStream(path));
    if (isLonger) await write(createReadStream(from.pathOf(name), { start: present }));
  });
  await syncFolder(to.folder);
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
  readonly #from: SegmentFiles;
  readonly #to: SegmentFiles;
  readonly #inTurn = pLimit(1);
  readonly #sizes = new Map<string, number>();
  readonly #copied = new Set<string>();

  constructor(from: SegmentFiles, to: SegmentFiles) {
    this.#from = from;
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
        await copySegment(this.#from, this.#to, name);
      }
      return false;
    });
  }
}

/**
 * Adds an image to the pool. Its content is durable when this resolves; its name is durable once its folder is
 * synchronised.
 * @returns its folder
 */
export async function addToPool(pool: string, sha256: string, bytes: Uint8Array): Promise<string> {
  const path = pathInPool(pool, sha256);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeWhole(path, (file) => file.writeFile(bytes));
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
        if (/^[0-9a-f]{64}$/.test(name) && (await isListed(name))) continue;
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
    if (segments.has(name)) continue;
    await rm(join(folder, name), { force: true });
    removed++;
  }
  return removed;
}

const HEX_FOLDER = /^[0-9a-f]{2}$/;

async function nextOf(list: AsyncIterator<LocatedImage>): Promise<LocatedImage | undefined> {
  const { value, done } = await list.next();
  return done ? undefined : value;
}

async function sortedNames(folder: string): Promise<string[]> {
  return ((await ignoreErrno(readdir(folder), 'ENOENT', 'ENOTDIR')) ?? []).sort();
}
