import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LINE_BREAK, lineOf, recordOf } from './records.ts';

/** How the name of a segment that is being written ends. One that a killed process left may be removed. */
export const PART_SUFFIX = '.part';

/**
 * Writes records as a file of their own. It appears under its name complete and durable, or not at all, so several processes
 * may write to a folder, and read and remove what they find there.
 * @returns the size of the file in bytes
 */
export async function writeSegment(path: string, records: readonly (string | Buffer)[]): Promise<number> {
  const bytes = Buffer.concat(records.map(lineOf));
  const part = `${path}${PART_SUFFIX}`;
  const file = await open(part, 'w', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(part, path);
  await syncFolder(dirname(path));
  return bytes.length;
}

/** What a segment contains, in its order. */
export interface Segment {
  readonly records: readonly Buffer[];
  /** The lines whose checksum is wrong, and what is left of an incomplete one. */
  readonly damaged: readonly Buffer[];
}

/** Reads a whole segment. @throws the error of the system when there is no such file, or it cannot be read */
export async function readSegment(path: string): Promise<Segment> {
  const bytes = await readFile(path);
  const records: Buffer[] = [];
  const damaged: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(LINE_BREAK, from);
    const line = bytes.subarray(from, end === -1 ? undefined : end);
    const record = end === -1 ? null : recordOf(line);
    if (record === null) damaged.push(line);
    else records.push(record);
    from += line.length + 1;
  }
  return { records, damaged };
}

/** Removes everything after the last line break of a file. @returns the new size in bytes */
export async function dropIncomplete(file: FileHandle): Promise<number> {
  const { size } = await file.stat();
  const step = 65_536;
  for (let stop = size; stop > 0; stop -= step) {
    const from = Math.max(0, stop - step);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(stop - from), 0, stop - from, from);
    const last = buffer.subarray(0, bytesRead).lastIndexOf(LINE_BREAK);
    if (last === -1) continue;
    const whole = from + last + 1;
    if (whole < size) await file.truncate(whole);
    return whole;
  }
  if (size > 0) await file.truncate(0);
  return 0;
}

/** Makes created, renamed and removed entries of the folder survive a power failure. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
