import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { syncFolder } from '@gantry/embedded-postgres/data-folder';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import { machineTime } from '../platform/machine-time.ts';

/** The files of reports. A key is a file name without folder. */
export interface ReportFiles {
  /**
   * Stores what `fill` writes under the key, completely or not at all. `fill` must end the stream.
   * @returns the size in bytes, and the result of `fill`
   */
  write<Result>(
    key: string,
    fill: (to: Writable) => Promise<Result>,
  ): Promise<{ readonly size: number; readonly result: Result }>;
  /** The file and its size in bytes; null when it does not exist here. */
  open(key: string): Promise<{ readonly size: number; readonly stream: Readable } | null>;
  /** Removes the file, complete or not. */
  remove(key: string): Promise<void>;
  /**
   * The names of all files, including incomplete ones, that were last written more than the given number of
   * milliseconds ago.
   */
  listOlderThan(ms: number): Promise<string[]>;
}

const DRAFT = '.part';

/** Stores them in a folder of this machine. */
export function createReportFiles(folder: string): ReportFiles {
  const pathOf = (key: string): string => {
    if (!/^[\w-]+\.\w+(\.part)?$/.test(key)) throw new Error(`${key} is not the file name of a report`);
    return join(folder, key);
  };
  const sync = async (path: string): Promise<number> => {
    const handle = await open(path, 'r');
    try {
      await handle.sync();
      return (await handle.stat()).size;
    } finally {
      await handle.close();
    }
  };

  return {
    async write(key, fill) {
      const [path, draft] = [pathOf(key), pathOf(`${key}${DRAFT}`)];
      await mkdir(folder, { recursive: true, mode: 0o700 });
      try {
        const result = await fill(createWriteStream(draft, { mode: 0o600 }));
        const size = await sync(draft);
        await rename(draft, path);
        await syncFolder(folder);
        return { size, result };
      } finally {
        await rm(draft, { force: true });
      }
    },
    async open(key) {
      const handle = await ignoreErrno(open(pathOf(key), 'r'), 'ENOENT');
      if (!handle) return null;
      const { size } = await handle.stat();
      return { size, stream: createReadStream('', { fd: handle, autoClose: true }) };
    },
    async remove(key) {
      const path = pathOf(key);
      for (const each of [path, `${path}${DRAFT}`]) await rm(each, { force: true });
    },
    async listOlderThan(ms) {
      const names = (await ignoreErrno(readdir(folder), 'ENOENT')) ?? [];
      const found: string[] = [];
      for (const name of names) {
        const info = await ignoreErrno(stat(join(folder, name)), 'ENOENT');
        if (info?.isFile() && info.mtimeMs < machineTime() - ms) found.push(name);
      }
      return found;
    },
  };
}
