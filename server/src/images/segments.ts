import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '@gantry/embedded-postgres/data-folder';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';

/** Where the bytes of an image begin in a segment. */
export interface Place {
  /** `image_segments.id` */
  readonly segment: number;
  /** In bytes. */
  readonly position: number;
}

/** An image to append. */
export interface NewRecord {
  /** 64 hexadecimal digits. */
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

/** A segment is closed when it is at least this large, in bytes. */
const FULL = 256 * 1024 * 1024;

/**
 * How long a process may append to a segment, in milliseconds. One that was not closed and is older than twice this is of a
 * process that ended without closing it.
 */
export const OPEN_MS = 12 * 3_600_000;

/** The header of a record: `GIMG`, the number of bytes that follow it as 32 bits in network order, and their SHA-256. */
const MAGIC = Buffer.from('GIMG');
export const HEADER_BYTES = 40;

/** The form of the names: the month in UTC and something unique. */
const NAME = /^\d{4}-\d{2}-[0-9a-f-]{36}$/;

/** The files of segments. */
export class SegmentFiles {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  pathOf(name: string): string {
    if (!NAME.test(name)) throw new Error(`Not the name of a segment: ${name}`);
    return join(this.folder, name);
  }

  /** Reads bytes of a segment; fewer at its end, and null when it does not exist. */
  async read(name: string, position: number, bytes: number): Promise<Buffer | null> {
    const file = await ignoreErrno(open(this.pathOf(name), 'r'), 'ENOENT');
    if (file === undefined) return null;
    try {
      const buffer = Buffer.allocUnsafe(bytes);
      let length = 0;
      while (length < bytes) {
        const { bytesRead } = await file.read(buffer, length, bytes - length, position + length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      return buffer.subarray(0, length);
    } finally {
      await file.close();
    }
  }

  /** Overwrites bytes of a segment with zeros, which is durable when this resolves. */
  async clear(name: string, position: number, bytes: number): Promise<void> {
    const file = await ignoreErrno(open(this.pathOf(name), 'r+'), 'ENOENT');
    if (file === undefined) return;
    try {
      await file.write(Buffer.alloc(bytes), 0, bytes, position);
      await file.datasync();
    } finally {
      await file.close();
    }
  }

  /** The size of a segment in bytes; 0 when it does not exist. */
  async sizeOf(name: string): Promise<number> {
    return (await ignoreErrno(stat(this.pathOf(name)), 'ENOENT'))?.size ?? 0;
  }

  async remove(name: string): Promise<void> {
    await rm(this.pathOf(name), { force: true });
  }

  /** Creates a segment whose name survives a power failure. */
  async create(month: string): Promise<{ readonly name: string; readonly file: FileHandle }> {
    const name = `${month}-${randomUUID()}`;
    const path = this.pathOf(name);
    await makeFolder(this.folder);
    const file = await open(path, 'wx', 0o600);
    try {
      await syncFolder(this.folder);
    } catch (error) {
      await file.close();
      throw error;
    }
    return { name, file };
  }
}

/** Creates a folder and its missing parents so that they survive a power failure. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

/** Records in the database which segments there are. */
export interface SegmentRegister {
  /** @returns the id of the segment */
  add(name: string): Promise<number>;
  /** Records that nothing is appended any more. @param bytes the size of its file */
  close(id: number, bytes: number): Promise<void>;
}

/** The segment to which records are appended. */
interface OpenSegment {
  readonly id: number;
  readonly month: string;
  readonly file: FileHandle;
  /** Unix milliseconds */
  readonly openedAt: number;
  bytes: number;
}

/** Appends images to segments. Calls must not overlap. */
export class SegmentWriter implements AsyncDisposable {
  readonly #files: SegmentFiles;
  readonly #register: SegmentRegister;
  readonly #now: () => number;
  #segment: OpenSegment | null = null;

  /**
   * @param now the time in Unix milliseconds, by the clock of the database: a machine that was suspended must notice that
   * its segment is too old
   */
  constructor(files: SegmentFiles, register: SegmentRegister, now: () => number) {
    this.#files = files;
    this.#register = register;
    this.#now = now;
  }

  /**
   * Appends images to a segment of a month. They are durable when this resolves, and none is stored when it rejects.
   * @param month `YYYY-MM`
   * @returns where each of them is
   */
  async append(images: readonly NewRecord[], month: string): Promise<Place[]> {
    const segment = await this.#segmentOf(month);
    const places: Place[] = [];
    const buffers: Uint8Array[] = [];
    let end = segment.bytes;
    for (const { sha256, bytes } of images) {
      places.push({ segment: segment.id, position: end + HEADER_BYTES });
      buffers.push(headerOf(sha256, bytes.length), bytes);
      end += HEADER_BYTES + bytes.length;
    }
    try {
      await writeAll(segment.file, buffers, segment.bytes);
      await segment.file.datasync();
    } catch (error) {
      // What a failed synchronisation has written is unknown, and another one would not tell: the segment ends before it.
      this.#segment = null;
      await this.#end(segment).catch(() => undefined);
      throw error;
    }
    segment.bytes = end;
    return places;
  }

  /** Closes the segment. */
  async [Symbol.asyncDispose](): Promise<void> {
    const segment = this.#segment;
    this.#segment = null;
    if (segment) await this.#end(segment);
  }

  async #segmentOf(month: string): Promise<OpenSegment> {
    const present = this.#segment;
    if (present) {
      const isOld = Math.abs(this.#now() - present.openedAt) > OPEN_MS;
      if (present.month === month && present.bytes < FULL && !isOld) return present;
      this.#segment = null;
      await this.#end(present);
    }
    const openedAt = this.#now();
    const { name, file } = await this.#files.create(month);
    try {
      const id = await this.#register.add(name);
      this.#segment = { id, month, file, openedAt, bytes: 0 };
      return this.#segment;
    } catch (error) {
      await file.close();
      await this.#files.remove(name);
      throw error;
    }
  }

  async #end({ id, file, bytes }: OpenSegment): Promise<void> {
    try {
      await file.truncate(bytes);
    } finally {
      await file.close();
    }
    await this.#register.close(id, bytes);
  }
}

function headerOf(sha256: string, bytes: number): Buffer {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt32BE(bytes, 4);
  header.write(sha256, 8, 'hex');
  return header;
}

async function writeAll(file: FileHandle, buffers: readonly Uint8Array[], position: number): Promise<void> {
  let left = [...buffers];
  let at = position;
  while (left.length > 0) {
    const { bytesWritten } = await file.writev(left, at);
    at += bytesWritten;
    left = after(left, bytesWritten);
  }
}

/** What remains of buffers after their first bytes. */
function after(buffers: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let skipped = bytes;
  return buffers.flatMap((buffer) => {
    const skip = Math.min(skipped, buffer.length);
    skipped -= skip;
    return skip === buffer.length ? [] : [buffer.subarray(skip)];
  });
}
