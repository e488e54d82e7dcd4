import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, copyFile, link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReportFileKind, ReportFormat } from '@gantry/contract/reports';
import { syncFolder } from '@gantry/embedded-postgres/data-folder';
import { hasErrno, ignoreErrno } from '@gantry/embedded-postgres/errno';
import { DateTime } from 'luxon';
import { machineTime } from '../platform/machine-time.ts';

const DRAFT = '.part';

interface Named {
  readonly kind: ReportFileKind;
  readonly format: ReportFormat;
  readonly startsAt: Date;
  readonly endsAt: Date;
  readonly settings: { readonly timezone: string };
}

/** The first and the last day of a report, such as 2026-01-31; one if they are the same. */
export function daysOf({ startsAt, endsAt, settings }: Pick<Named, 'startsAt' | 'endsAt' | 'settings'>) {
  const days = [startsAt.getTime(), endsAt.getTime() - 1].map((moment) =>
    DateTime.fromMillis(moment, { zone: settings.timezone }).toFormat('yyyy-MM-dd'),
  );
  return [...new Set(days)];
}

/** The file name of a report, with its kind and its days. */
export function fileNameOf({ kind, format, ...range }: Named): string {
  return `${kind.toLowerCase().replaceAll('_', '-')}_${daysOf(range).join('_')}.${format.toLowerCase()}`;
}

/**
 * The media type of each format. Separate from the writers, which take long to load and are needed only in the
 * thread.
 */
export const contentTypes: Readonly<Record<ReportFormat, string>> = {
  CSV: 'text/csv; charset=utf-8',
  XLSX: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  PDF: 'application/pdf',
};

/** The files of reports, in a folder of this machine. A key is a file name without folder. */
export class ReportFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Stores what `fill` writes under the key, completely or not at all. `fill` must end the stream.
   * @returns the size in bytes, and the result of `fill`
   */
  async write<Result>(
    key: string,
    fill: (to: Writable) => Promise<Result>,
  ): Promise<{ readonly size: number; readonly result: Result }> {
    const [path, draft] = [this.#pathOf(key), this.#pathOf(`${key}${DRAFT}`)];
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    try {
      const result = await fill(createWriteStream(draft, { mode: 0o600 }));
      const size = await synchronise(draft);
      await rename(draft, path);
      await syncFolder(this.#folder);
      return { size, result };
    } finally {
      await rm(draft, { force: true });
    }
  }

  /** The file and its size in bytes; null when it does not exist here. */
  async open(key: string): Promise<{ readonly size: number; readonly stream: Readable } | null> {
    const handle = await ignoreErrno(open(this.#pathOf(key), 'r'), 'ENOENT');
    if (!handle) return null;
    const { size } = await handle.stat();
    return { size, stream: createReadStream('', { fd: handle, autoClose: true }) };
  }

  /** A file as a whole. @throws Error when it does not exist here */
  read(key: string): Promise<Buffer> {
    return readFile(this.#pathOf(key));
  }

  /** The SHA-256 of a file, 64 hexadecimal digits. @throws Error when it does not exist here */
  async hashOf(key: string): Promise<string> {
    const hash = createHash('sha256');
    await pipeline(createReadStream(this.#pathOf(key)), hash);
    return hash.digest('hex');
  }

  /**
   * Copies a file into a folder for others, completely or not at all. A file of that name stays as it is.
   * @returns false when the file is not on this machine
   */
  async copyTo(key: string, folder: string, name: string): Promise<boolean> {
    await mkdir(folder, { recursive: true, mode: 0o750 });
    const [path, draft] = [join(folder, name), join(folder, `.${name}${DRAFT}`)];
    if (await ignoreErrno(stat(path), 'ENOENT')) return true;
    try {
      if ((await ignoreErrno(copied(this.#pathOf(key), draft), 'ENOENT')) === undefined) return false;
      await chmod(draft, 0o640);
      await synchronise(draft);
      await place(draft, path);
      await syncFolder(folder);
      return true;
    } finally {
      await rm(draft, { force: true });
    }
  }

  /** Removes the file, complete or not. */
  async remove(key: string): Promise<void> {
    const path = this.#pathOf(key);
    for (const each of [path, `${path}${DRAFT}`]) await rm(each, { force: true });
  }

  /** Removes files that were not changed for some time and are not in use. @param findInUse those of the keys that are */
  async removeUnused(
    olderMs: number,
    findInUse: (keys: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<void> {
    const keys = await this.listOlderThan(olderMs);
    const inUse = await findInUse(keys);
    for (const key of keys) if (!inUse.has(key)) await this.remove(key);
  }

  /**
   * The names of all files, including incomplete ones, that were last written more than the given number of
   * milliseconds ago.
   */
  async listOlderThan(ms: number): Promise<string[]> {
    const names = (await ignoreErrno(readdir(this.#folder), 'ENOENT')) ?? [];
    const found: string[] = [];
    for (const name of names) {
      const info = await ignoreErrno(stat(join(this.#folder, name)), 'ENOENT');
      if (info?.isFile() && info.mtimeMs < machineTime() - ms) found.push(name);
    }
    return found;
  }

  #pathOf(key: string): string {
    if (!/^[\w-]+\.\w+(\.part)?$/.test(key)) throw new Error(`${key} is not the file name of a report`);
    return join(this.#folder, key);
  }
}

async function copied(from: string, to: string): Promise<true> {
  await copyFile(from, to);
  return true;
}

/** Gives a file its name, at once and never in place of another. */
async function place(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path);
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return;
    // The file system, such as a share of another machine, has no links.
    if (!NO_LINKS.some((errno) => hasErrno(error, errno))) throw error;
    await rename(draft, path);
  }
}

const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** @returns the size of the file in bytes */
async function synchronise(path: string): Promise<number> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}
