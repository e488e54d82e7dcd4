import { type FileHandle, mkdir, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

/**
 * A new file of the spool is begun when the current one reaches this size in bytes, or the maximum size of the spool divided
 * by `SEGMENTS`, so that files whose records have been sent can be removed.
 */
const SEGMENT_BYTES = 8 * 1024 * 1024;
const SEGMENTS = 8;

const SEGMENT = /^(\d{16})\.spool$/;
const LINE_BREAK = 0x0a;

/** The spool has reached its maximum size. Nothing was stored. */
export class SpoolFull extends Error {
  override name = 'SpoolFull';
}

/** Records in the order in which they were appended. */
export interface Read {
  readonly records: readonly string[];
  /** The position after the last record that was read. */
  readonly end: number;
}

/**
 * An append-only log of texts in a folder. A position is the number of bytes that were appended before it since the folder
 * was created; each file is named by the position of its first byte. A record is one line: the CRC-32 of the text in
 * hexadecimal, a blank, and the text, which must not contain line breaks.
 */
export interface Spool extends AsyncDisposable {
  /** The position of the next record. */
  readonly end: number;
  /** The position of the oldest record that is still there. */
  readonly start: number;
  /**
   * Appends records, and resolves when they are durable. Concurrent calls share one fsync.
   * @throws SpoolFull when they and the records that have not been sent would exceed the maximum size
   */
  append(records: readonly string[]): Promise<void>;
  /**
   * Reads from one position to another, or until a limit of records or bytes is reached. Damaged records are skipped.
   * At least one record is returned if there is an undamaged one, whatever its size.
   */
  read(
    from: number,
    until: number,
    most: { readonly records: number; readonly bytes: number },
  ): Promise<Read>;
  /**
   * Notes that everything before the position has been sent, and removes the files that contain nothing after it.
   * @param makeRoom whether to begin a new file if everything has been sent, so that the last file can be removed, too
   */
  removeBefore(position: number, makeRoom?: boolean): Promise<void>;
  /** Resolves when something is appended after the call, or the signal is aborted. */
  appended(signal: AbortSignal): Promise<void>;
}

interface Waiting {
  readonly lines: Buffer;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Opens the spool, and removes an incomplete record that a power failure left at its end.
 * @param maxBytes maximum size of the records that have not been sent; the oldest file may contain sent ones in addition
 * @param onDamage receives the position of each damaged record that was skipped
 */
export async function openSpool(
  folder: string,
  maxBytes: number,
  onDamage: (position: number) => void,
): Promise<Spool> {
  await mkdir(folder, { recursive: true });
  const found = (await readdir(folder))
    .map((name) => SEGMENT.exec(name)?.[1])
    .filter((name) => name !== undefined);
  const starts = found.map(Number).sort((a, b) => a - b);
  if (starts.length === 0) starts.push(0);
  const pathOf = (start: number): string => join(folder, `${String(start).padStart(16, '0')}.spool`);
  const lastStart = starts.at(-1) ?? 0;
  let file: FileHandle = await open(pathOf(lastStart), 'a+');
  let fileStart = lastStart;
  let end = lastStart + (await dropIncomplete(file));
  await syncFolder(folder);

  const segmentBytes = Math.min(SEGMENT_BYTES, maxBytes / SEGMENTS);
  let sentBefore = starts[0] ?? 0;

  let queue: Waiting[] = [];
  let writing: Promise<void> | null = null;
  const listeners = new Set<() => void>();

  const startNewFile = async (): Promise<void> => {
    const next = await open(pathOf(end), 'a+');
    await file.close();
    file = next;
    fileStart = end;
    starts.push(end);
    await syncFolder(folder);
  };

  const writeAll = async (): Promise<void> => {
    while (queue.length > 0) {
      const group = queue;
      queue = [];
      const bytes = Buffer.concat(group.map(({ lines }) => lines));
      try {
        if (end - fileStart >= segmentBytes) await startNewFile();
        await writeWhole(file, bytes);
        await file.datasync();
        end += bytes.length;
        for (const { resolve } of group) resolve();
        for (const listener of listeners) listener();
      } catch (error) {
        // The part of the group that was written is removed, so that the next record begins on a new line.
        await file.truncate(end - fileStart).catch(() => undefined);
        for (const { reject } of group) reject(error);
      }
    }
    writing = null;
  };

  return {
    get end() {
      return end;
    },
    get start() {
      return starts[0] ?? 0;
    },
    append(records) {
      const lines = Buffer.concat(records.map(lineOf));
      const waiting = queue.reduce((sum, each) => sum + each.lines.length, 0);
      if (end - sentBefore + waiting + lines.length > maxBytes) {
        return Promise.reject(new SpoolFull(`The spool has reached its maximum size of ${maxBytes} bytes`));
      }
      return new Promise((resolve, reject) => {
        queue.push({ lines, resolve, reject });
        writing ??= writeAll();
      });
    },
    async read(from, until, most) {
      const limit = Math.min(until, end);
      const records: string[] = [];
      let at = Math.max(from, starts[0] ?? 0);
      for (let size = most.bytes; at < limit && records.length === 0; size *= 2) {
        const start = starts.findLast((each) => each <= at) ?? 0;
        const stop = Math.min(starts.find((each) => each > at) ?? end, limit);
        const length = Math.min(stop - at, size);
        const chunk = await readBytes(pathOf(start), at - start, length);
        let used = 0;
        for (let line = chunk.indexOf(LINE_BREAK); line !== -1; line = chunk.indexOf(LINE_BREAK, used)) {
          if (records.length === most.records) break;
          const record = recordOf(chunk.subarray(used, line));
          if (record === null) onDamage(at + used);
          else records.push(record);
          used = line + 1;
        }
        // A file may be shorter than the position of the next one implies, if the file system lost its end.
        if (used === 0 && (chunk.length < length || at + length >= stop)) {
          onDamage(at);
          used = stop - at;
        }
        at += used;
      }
      return { records, end: at };
    },
    async removeBefore(position, makeRoom = false) {
      sentBefore = Math.max(sentBefore, position);
      if (makeRoom && writing === null && position >= end && end > fileStart) {
        writing = startNewFile()
          .catch(() => undefined)
          .then(writeAll);
        await writing;
      }
      while (starts.length > 1 && (starts[1] ?? 0) <= position) {
        const start = starts.shift() ?? 0;
        await unlink(pathOf(start)).catch(() => undefined);
      }
    },
    appended(signal) {
      if (signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const done = (): void => {
          listeners.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        listeners.add(done);
        signal.addEventListener('abort', done);
      });
    },
    async [Symbol.asyncDispose]() {
      await writing;
      await file.close();
    },
  };
}

function lineOf(record: string): Buffer {
  return Buffer.from(`${crc32(record).toString(16).padStart(8, '0')} ${record}\n`);
}

/** The text of a line; null when its check sum is wrong. */
function recordOf(line: Buffer): string | null {
  const record = line.subarray(9);
  return Number.parseInt(line.toString('latin1', 0, 8), 16) === crc32(record)
    ? record.toString('utf8')
    : null;
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

async function writeWhole(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}

async function readBytes(path: string, at: number, length: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Makes the directory entries of new files durable. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
