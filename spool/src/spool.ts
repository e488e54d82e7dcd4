import { type FileHandle, mkdir, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { LINE_BREAK, lineOf, recordOf } from './records.ts';
import { dropIncomplete, syncFolder } from './segment.ts';

/**
 * A new segment is started when the current one reaches this size in bytes, or the maximum size of the spool divided by
 * `SEGMENTS`, so that segments whose records have been sent can be removed.
 */
const SEGMENT_BYTES = 8 * 1024 * 1024;
const SEGMENTS = 8;

const SEGMENT = /^(\d{16})\.spool$/;

/** The spool has reached its maximum size. Nothing was stored. */
export class SpoolFull extends Error {
  override name = 'SpoolFull';
}

/** Records in the order in which they were appended. */
export interface Read {
  readonly records: readonly Buffer[];
  /** The position after the last record that was read. */
  readonly end: number;
}

interface Waiting {
  readonly lines: Buffer;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * An append-only log of records in a folder that belongs to one process. A position is the number of bytes that were
 * appended before it since the folder was created; each segment is a file named by the position of its first byte.
 */
export class Spool implements AsyncDisposable {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #onDamage: (position: number) => void;
  /** The positions at which the segments begin, in ascending order. */
  readonly #starts: number[];
  /** The last segment, to which records are appended. */
  #file: FileHandle;
  #fileStart: number;
  #end: number;
  #sentBefore: number;
  #queue: Waiting[] = [];
  #writing: Promise<void> | null = null;
  readonly #listeners = new Set<() => void>();

  private constructor(
    folder: string,
    maxBytes: number,
    onDamage: (position: number) => void,
    { starts, file, end }: { starts: number[]; file: FileHandle; end: number },
  ) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.#onDamage = onDamage;
    this.#starts = starts;
    this.#file = file;
    this.#fileStart = starts.at(-1) ?? 0;
    this.#end = end;
    this.#sentBefore = starts[0] ?? 0;
  }

  /**
   * Opens the spool, and removes an incomplete record that a power failure left at its end.
   * @param maxBytes maximum size of the records that have not been sent; the oldest file may contain sent ones in addition
   * @param onDamage receives the position of each damaged record that was skipped, and of an incomplete one
   */
  static async open(folder: string, maxBytes: number, onDamage: (position: number) => void): Promise<Spool> {
    await mkdir(folder, { recursive: true });
    const found = (await readdir(folder)).map((name) => SEGMENT.exec(name)?.[1]);
    const starts = found
      .filter((name) => name !== undefined)
      .map(Number)
      .sort((a, b) => a - b);
    if (starts.length === 0) starts.push(0);
    const last = starts.at(-1) ?? 0;
    const file = await open(pathOf(folder, last), 'a+');
    const { size } = await file.stat();
    const end = last + (await dropIncomplete(file));
    // It may also be one that was complete, and whose line break is damaged.
    if (end < last + size) onDamage(end);
    await syncFolder(folder);
    return new Spool(folder, maxBytes, onDamage, { starts, file, end });
  }

  /** The position of the next record. */
  get end(): number {
    return this.#end;
  }

  /** The position of the oldest record that is still there. */
  get start(): number {
    return this.#starts[0] ?? 0;
  }

  /**
   * Appends records, and resolves when they are durable. Concurrent calls share one fsync.
   * @throws SpoolFull when they and the records that have not been sent would exceed the maximum size
   */
  append(records: readonly (string | Buffer)[]): Promise<void> {
    const lines = Buffer.concat(records.map(lineOf));
    const waiting = this.#queue.reduce((sum, each) => sum + each.lines.length, 0);
    if (this.#end - this.#sentBefore + waiting + lines.length > this.#maxBytes) {
      return Promise.reject(
        new SpoolFull(`The spool has reached its maximum size of ${this.#maxBytes} bytes`),
      );
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ lines, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /**
   * Reads from one position to another, or until a limit of records or bytes is reached. Damaged records are skipped. At
   * least one record is returned if there is an undamaged one, whatever its size.
   */
  async read(
    from: number,
    until: number,
    most: { readonly records: number; readonly bytes: number },
  ): Promise<Read> {
    const limit = Math.min(until, this.#end);
    const records: Buffer[] = [];
    let at = Math.max(from, this.start);
    for (let size = most.bytes; at < limit && records.length === 0; size *= 2) {
      const start = this.#starts.findLast((each) => each <= at) ?? 0;
      const stop = Math.min(this.#starts.find((each) => each > at) ?? this.#end, limit);
      const length = Math.min(stop - at, size);
      const chunk = await readBytes(pathOf(this.#folder, start), at - start, length);
      let used = 0;
      for (let line = chunk.indexOf(LINE_BREAK); line !== -1; line = chunk.indexOf(LINE_BREAK, used)) {
        if (records.length === most.records) break;
        const record = recordOf(chunk.subarray(used, line));
        if (record === null) this.#onDamage(at + used);
        else records.push(record);
        used = line + 1;
      }
      // A file may be shorter than the position of the next one implies, if the file system lost its end.
      if (used === 0 && (chunk.length < length || at + length >= stop)) {
        this.#onDamage(at);
        used = stop - at;
      }
      at += used;
    }
    return { records, end: at };
  }

  /**
   * Notes that everything before the position has been sent, and removes the segments that contain nothing after it.
   * @param makeRoom whether to begin a new segment if everything has been sent, so that the last one can be removed, too
   */
  async removeBefore(position: number, makeRoom = false): Promise<void> {
    this.#sentBefore = Math.max(this.#sentBefore, position);
    if (makeRoom && this.#writing === null && position >= this.#end && this.#end > this.#fileStart) {
      this.#writing = this.#startSegment()
        .catch(() => undefined)
        .then(() => this.#writeAll());
      await this.#writing;
    }
    while (this.#starts.length > 1 && (this.#starts[1] ?? 0) <= position) {
      const start = this.#starts.shift() ?? 0;
      await unlink(pathOf(this.#folder, start)).catch(() => undefined);
    }
  }

  /** Resolves when something is appended after the call, or the signal is aborted. */
  appended(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#listeners.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#listeners.add(done);
      signal.addEventListener('abort', done);
    });
  }

  /** Waits for what is being appended, and closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }

  async #startSegment(): Promise<void> {
    const next = await open(pathOf(this.#folder, this.#end), 'a+');
    await this.#file.close();
    this.#file = next;
    this.#fileStart = this.#end;
    this.#starts.push(this.#end);
    await syncFolder(this.#folder);
  }

  async #writeAll(): Promise<void> {
    const segmentBytes = Math.min(SEGMENT_BYTES, this.#maxBytes / SEGMENTS);
    while (this.#queue.length > 0) {
      const group = this.#queue;
      this.#queue = [];
      const bytes = Buffer.concat(group.map(({ lines }) => lines));
      try {
        if (this.#end - this.#fileStart >= segmentBytes) await this.#startSegment();
        await writeWhole(this.#file, bytes);
        await this.#file.datasync();
        this.#end += bytes.length;
        for (const { resolve } of group) resolve();
        for (const listener of this.#listeners) listener();
      } catch (error) {
        // The part of the group that was written is removed, so that the next record begins on a new line.
        await this.#file.truncate(this.#end - this.#fileStart).catch(() => undefined);
        for (const { reject } of group) reject(error);
      }
    }
    this.#writing = null;
  }
}

function pathOf(folder: string, start: number): string {
  return join(folder, `${String(start).padStart(16, '0')}.spool`);
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
