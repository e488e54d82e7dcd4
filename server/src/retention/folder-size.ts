import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreErrno } from '../platform/errno.ts';

/** The number of files directly in a folder and their total size in bytes. */
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

/**
 * The size and the free space of the disk of a folder in bytes, as available to this process; null when there is no
 * such folder.
 */
export async function sizeOfDisk(folder: string): Promise<{ totalBytes: number; freeBytes: number } | null> {
  const disk = await ignoreErrno(statfs(folder), 'ENOENT', 'ENOSYS');
  return disk === undefined
    ? null
    : { totalBytes: disk.blocks * disk.bsize, freeBytes: disk.bavail * disk.bsize };
}
