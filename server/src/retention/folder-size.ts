import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreErrno } from '../platform/errno.ts';

/** How many files a folder holds, without those in folders inside it, and their size in bytes. */
export async function sizeOfFolder(folder: string): Promise<{ count: number; bytes: number }> {
  const names = (await ignoreErrno(readdir(folder), 'ENOENT')) ?? [];
  let count = 0;
  let bytes = 0;
  for (const name of names) {
    const found = await ignoreErrno(stat(join(folder, name)), 'ENOENT');
    if (!found?.isFile()) continue;
    count++;
    bytes += found.size;
  }
  return { count, bytes };
}

/** The disk that a folder is on, in bytes; null when there is no such folder. What is free is so for this process. */
export async function sizeOfDisk(folder: string): Promise<{ totalBytes: number; freeBytes: number } | null> {
  const disk = await ignoreErrno(statfs(folder), 'ENOENT', 'ENOSYS');
  return disk === undefined
    ? null
    : { totalBytes: disk.blocks * disk.bsize, freeBytes: disk.bavail * disk.bsize };
}
