import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

// The form of the archive of an evidence package: a ZIP file of which every byte follows from the names, the contents and
// one time, so that a changed byte is always found. Files are stored as they are, one after another. docs/evidence.md
// describes it.

/** A file of an archive. */
export interface ArchivedFile {
  readonly name: string;
  readonly bytes: number;
  readonly crc: number;
  /** Where its header begins. */
  readonly at: number;
}

export const MAX_ARCHIVE_BYTES = 600_000_000;
export const MAX_ARCHIVED_FILES = 10_000;

/** A file, or a file in one folder: no other letters, and no name that leads elsewhere. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?$/;

const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;

/** Version 2.0 (a file in a folder), made on Unix. */
const NEEDED = 20;
const MADE_BY = (3 << 8) | NEEDED;
/** A regular file that all may read and its owner write. */
const MODE = (0o100644 << 16) >>> 0;

/** A time as ZIP files have it, in UTC: the date in the upper, the time in the lower 16 bits, in steps of two seconds. */
export function archiveTime(ms: number): number {
  const at = new Date(ms);
  const day = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  return ((day << 16) | time) >>> 0;
}

/** What the two headers of a file have in common. */
function writeCommon(header: Buffer, from: number, { name, bytes, crc }: ArchivedFile, time: number): void {
  header.writeUInt16LE(NEEDED, from);
  header.writeUInt16LE(time & 0xffff, from + 6);
  header.writeUInt16LE(time >>> 16, from + 8);
  header.writeUInt32LE(crc, from + 10);
  header.writeUInt32LE(bytes, from + 14);
  header.writeUInt32LE(bytes, from + 18);
  header.writeUInt16LE(name.length, from + 22);
}

/** The header before the contents of a file. */
export function localHeader(file: ArchivedFile, time: number): Buffer {
  const header = Buffer.alloc(LOCAL_BYTES + file.name.length);
  header.write('PK\x03\x04', 0, 'latin1');
  writeCommon(header, 4, file, time);
  header.write(file.name, LOCAL_BYTES, 'latin1');
  return header;
}

function centralHeader(file: ArchivedFile, time: number): Buffer {
  const header = Buffer.alloc(CENTRAL_BYTES + file.name.length);
  header.write('PK\x01\x02', 0, 'latin1');
  header.writeUInt16LE(MADE_BY, 4);
  writeCommon(header, 6, file, time);
  header.writeUInt32LE(MODE, 38);
  header.writeUInt32LE(file.at, 42);
  header.write(file.name, CENTRAL_BYTES, 'latin1');
  return header;
}

/** The directory at the end of an archive. @param at where it begins */
export function archiveDirectory(files: readonly ArchivedFile[], time: number, at: number): Buffer {
  const headers = Buffer.concat(files.map((file) => centralHeader(file, time)));
  const end = Buffer.alloc(END_BYTES);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(headers.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([headers, end]);
}

/** A file that is not the archive of a package. */
export class ArchiveFault extends Error {
  override readonly name = 'ArchiveFault';
  /** The name of the file in it where the fault is; null if it is not that of one. */
  readonly file: string | null;

  constructor(file: string | null, message: string) {
    super(message);
    this.file = file;
  }
}

/** Number of bytes that are read at once. */
const PIECE = 1 << 20;

/** An archive on disk, of which only parts are in memory. */
export class Archive implements Disposable {
  readonly files: readonly ArchivedFile[];
  /** When its files were last changed, as `archiveTime` writes it. */
  readonly time: number;
  readonly #file: number;

  /** @throws ArchiveFault; Error if the file cannot be read */
  constructor(path: string) {
    this.#file = openSync(path, 'r');
    try {
      const { size } = fstatSync(this.#file);
      const directory = this.#readDirectory(size);
      this.files = directory.files;
      this.time = directory.time;
      this.#requireForm(directory.at, size);
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
  }

  /** The bytes of a file, in pieces. A piece is valid until the next one is read. */
  *read({ at, name, bytes }: ArchivedFile): Generator<Buffer> {
    const piece = Buffer.alloc(Math.min(PIECE, bytes));
    const from = at + LOCAL_BYTES + name.length;
    for (let done = 0; done < bytes; done += piece.length)
      yield this.#readInto(piece.subarray(0, bytes - done), from + done);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  #readInto(piece: Buffer, at: number): Buffer {
    for (let done = 0; done < piece.length; ) {
      const read = readSync(this.#file, piece, done, piece.length - done, at + done);
      if (read === 0) throw new ArchiveFault(null, 'The archive ends early');
      done += read;
    }
    return piece;
  }

  #readDirectory(size: number): { files: ArchivedFile[]; time: number; at: number } {
    if (size > MAX_ARCHIVE_BYTES)
      throw new ArchiveFault(null, `The archive has ${size} bytes, more than any package`);
    const cut = new ArchiveFault(null, 'This is no ZIP file, or its end is missing or changed');
    if (size < END_BYTES) throw cut;
    const end = this.#readInto(Buffer.alloc(END_BYTES), size - END_BYTES);
    const [count, bytes, at] = [end.readUInt16LE(10), end.readUInt32LE(12), end.readUInt32LE(16)];
    if (end.toString('latin1', 0, 4) !== 'PK\x05\x06' || at + bytes + END_BYTES !== size) throw cut;
    if (count > MAX_ARCHIVED_FILES || bytes > MAX_ARCHIVED_FILES * 250)
      throw new ArchiveFault(null, `The archive has ${count} files, more than any package`);
    return { ...entriesOf(this.#readInto(Buffer.alloc(bytes), at), count), at };
  }

  /** Each byte outside of the contents must be the one that follows from them. */
  #requireForm(directoryAt: number, size: number): void {
    const seen = new Map<string, string>();
    let next = 0;
    for (const file of this.files) {
      const { name, bytes, at } = file;
      if (!NAME.test(name)) throw new ArchiveFault(name, 'No package has a file of this name');
      const known = seen.get(name.toLowerCase());
      if (known !== undefined)
        throw new ArchiveFault(
          name,
          known === name ? 'The name is there twice' : `The name is also ${known}`,
        );
      seen.set(name.toLowerCase(), name);
      const expected = localHeader({ ...file, at: next }, this.time);
      if (at !== next || at + expected.length + bytes > directoryAt)
        throw new ArchiveFault(name, 'It does not lie where it must: before it, or in it, is something else');
      if (!this.#readInto(Buffer.alloc(expected.length), at).equals(expected))
        throw new ArchiveFault(name, 'Its header is not that of a file of a package');
      next = at + expected.length + bytes;
    }
    if (next !== directoryAt)
      throw new ArchiveFault(null, 'Between the files and the directory is something else');
    const expected = archiveDirectory(this.files, this.time, directoryAt);
    const found = this.#readInto(Buffer.alloc(size - directoryAt), directoryAt);
    if (expected.equals(found)) return;
    const first = expected.findIndex((byte, index) => byte !== found[index]);
    throw new ArchiveFault(this.#fileOfHeader(first), 'The directory is not that of a package');
  }

  /** The file whose header contains this byte of the directory. */
  #fileOfHeader(byte: number): string | null {
    let until = 0;
    for (const { name } of this.files) {
      until += CENTRAL_BYTES + name.length;
      if (byte < until) return name;
    }
    return null;
  }
}

/** The files that a directory names, as far as it can be read; their headers are compared afterwards. */
function entriesOf(directory: Buffer, count: number): { files: ArchivedFile[]; time: number } {
  const files: ArchivedFile[] = [];
  let [from, time] = [0, 0];
  for (let number = 1; number <= count; number++) {
    const rest = directory.subarray(from);
    if (rest.length < CENTRAL_BYTES || rest.toString('latin1', 0, 4) !== 'PK\x01\x02')
      throw new ArchiveFault(null, `The directory has no file number ${number} of ${count}`);
    const length = rest.readUInt16LE(28);
    const name = rest.toString('latin1', CENTRAL_BYTES, CENTRAL_BYTES + length);
    if (rest.readUInt16LE(10) !== 0 || rest.readUInt32LE(20) !== rest.readUInt32LE(24))
      throw new ArchiveFault(name, 'It is compressed or encrypted, which no file of a package is');
    if (number === 1) time = ((rest.readUInt16LE(14) << 16) | rest.readUInt16LE(12)) >>> 0;
    files.push({ name, bytes: rest.readUInt32LE(24), crc: rest.readUInt32LE(16), at: rest.readUInt32LE(42) });
    from += CENTRAL_BYTES + length;
  }
  if (from !== directory.length)
    throw new ArchiveFault(null, 'The directory has more than the files that it counts');
  return { files, time };
}
