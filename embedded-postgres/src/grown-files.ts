import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreErrno } from './errno.ts';

/** Milliseconds between two searches for files that grow, less than the 30 s after which Linux writes them. */
const SEARCH_MS = 20_000;

/** Names of files of tables and indexes, such as `16384`, `16384.1` and `16384_fsm`. */
const OF_RELATION = /^\d/;

/** The system could not write a file to the disk, and may have dropped what it could not write. */
export class NotWritten extends Error {
  override readonly name = 'NotWritten';

  constructor(path: string, options: ErrorOptions) {
    super(`${path} could not be written to the disk: ${String(options.cause)}`, options);
  }
}

/** The files of tables and indexes of a cluster that grow. */
export interface GrownFiles {
  /**
   * Writes the files to the disk that have grown since the last call. Those that begin to grow are found within
   * 20 s.
   * @throws {NotWritten} when the disk did not accept one. PostgreSQL must then recover from its log, because the system
   *   reports this only once, and PostgreSQL would take the file for written at its next checkpoint
   */
  writeOut(): Promise<void>;
}

/**
 * Keeps the files of a cluster from being written all at once. PostgreSQL adds pages of zeros to its files, which Linux
 * leaves in memory for 30 s by default (`vm.dirty_expire_centisecs`): 280 MB at 5,400 events/s, and every 31 s commits
 * wait for up to 150 ms. With the files written out every two seconds, the p99 of ten-second samples was 9 to 22 ms
 * instead of 9 to 139 ms (decision 53).
 * @param folder PostgreSQL's data folder
 */
export function watchGrownFiles(folder: string): GrownFiles {
  /** The sizes of files in bytes when they were last written out; -1 if they were not written out yet. */
  let sizes = new Map<string, number>();
  let searchedAt: number | null = null;

  const search = async (): Promise<void> => {
    const now = performance.now();
    // Since the last search, and a second more because file systems round times.
    const backMs = searchedAt === null ? SEARCH_MS : now - searchedAt + 1_000;
    searchedAt = now;
    const recent = await listRecentFiles(join(folder, 'base'), Date.now() - backMs);
    sizes = new Map(recent.map((path) => [path, sizes.get(path) ?? -1]));
  };

  return {
    async writeOut() {
      if (searchedAt === null || performance.now() - searchedAt >= SEARCH_MS) await search();
      for (const [path, known] of sizes) {
        const size = (await ignoreErrno(stat(path), 'ENOENT'))?.size ?? known;
        if (size === known) continue;
        sizes.set(path, size);
        await writeToDisk(path);
      }
    },
  };
}

/** Files of tables and indexes that were written to since a time (Unix milliseconds). */
async function listRecentFiles(base: string, since: number): Promise<string[]> {
  const recent: string[] = [];
  for (const database of (await ignoreErrno(readdir(base), 'ENOENT')) ?? []) {
    for (const name of (await ignoreErrno(readdir(join(base, database)), 'ENOENT', 'ENOTDIR')) ?? []) {
      if (!OF_RELATION.test(name)) continue;
      const path = join(base, database, name);
      const found = await ignoreErrno(stat(path), 'ENOENT');
      if (found && found.mtimeMs >= since) recent.push(path);
    }
  }
  return recent;
}

async function writeToDisk(path: string): Promise<void> {
  const file = await ignoreErrno(open(path), 'ENOENT');
  if (!file) return;
  try {
    await file.datasync();
  } catch (cause) {
    throw new NotWritten(path, { cause });
  } finally {
    await file.close();
  }
}
