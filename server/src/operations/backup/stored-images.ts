import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import pLimit from 'p-limit';
import { BackupRefused } from './refusal.ts';

/** Number of images that are processed at the same time. */
const AT_ONCE = 8;

/** Maximum number of images that are processed or wait for it, so that a list of any length needs little memory. */
const WAITING = 64;

/** An image of a list: its hash and its size. */
export interface ListedImage {
  readonly sha256: string;
  readonly bytes: number;
}

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

const LINE = /^([0-9a-f]{64})\t(\d{1,15})$/;
const MAX_LINE = 80;

/**
 * Reads a list of images: a hash, a tab and a size in each line.
 * @throws BackupRefused at the first line that is anything else, and so before a path is made of it
 */
export async function* readImageList(text: Readable): AsyncGenerator<ListedImage> {
  let number = 0;
  const read = (line: string): ListedImage => {
    number++;
    const [, sha256, bytes] = LINE.exec(line) ?? [];
    if (sha256 !== undefined) return { sha256, bytes: Number(bytes) };
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
  images: AsyncIterable<ListedImage>,
  work: (image: ListedImage) => Promise<void>,
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

/** The SHA-256 of bytes, in hexadecimal digits. */
export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Whether the pool has the image already, by its size. Its content is checked when the backup is verified. */
export async function isInPool(pool: string, { sha256, bytes }: ListedImage): Promise<boolean> {
  return (await ignoreErrno(stat(pathInPool(pool, sha256)), 'ENOENT'))?.size === bytes;
}

/**
 * Adds an image to the pool. Its content is durable when this resolves; its name is durable once its folder is
 * synchronised.
 * @returns its folder
 */
export async function addToPool(pool: string, sha256: string, bytes: Uint8Array): Promise<string> {
  const path = pathInPool(pool, sha256);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Only one process writes to the pool at a time, so a draft of this name was left by one that was killed.
  const draft = `${path}.new`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(bytes);
    await file.datasync();
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(draft, path);
  return dirname(path);
}

/**
 * Removes the images of the pool that no list names, and what backups that were killed left there.
 * @param lists in the order of hashes, as the pool is read
 * @returns the number of images that were removed
 */
export async function removeUnlisted(
  pool: string,
  lists: readonly AsyncIterator<ListedImage>[],
): Promise<number> {
  const heads = await Promise.all(
    lists.map(async (list) => (await list.next()).value?.sha256 as string | undefined),
  );
  const isListed = async (sha256: string): Promise<boolean> => {
    let found = false;
    for (const [at, list] of lists.entries()) {
      for (let head = heads[at]; head !== undefined && head < sha256; ) {
        head = (await list.next()).value?.sha256;
        heads[at] = head;
      }
      if (heads[at] === sha256) found = true;
    }
    return found;
  };
  let removed = 0;
  for (const first of await sortedNames(pool)) {
    for (const second of await sortedNames(join(pool, first))) {
      for (const name of await sortedNames(join(pool, first, second))) {
        if (/^[0-9a-f]{64}$/.test(name) && (await isListed(name))) continue;
        await rm(join(pool, first, second, name), { force: true });
        removed++;
      }
    }
  }
  return removed;
}

async function sortedNames(folder: string): Promise<string[]> {
  return ((await ignoreErrno(readdir(folder), 'ENOENT', 'ENOTDIR')) ?? []).sort();
}
