import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import type { ArchivedFile } from './manifest.ts';
import { BackupRefused } from './refusal.ts';

/** Fast compression: it keeps up with the database, and makes text a fifth of its size. */
const LEVEL = 1;

/** Number of bytes of a file that are held in memory between disk and compression. */
const CHUNK = 256 * 1024;

/** Creates a stream that passes bytes on unchanged, and counts and hashes them. */
function createGauge() {
  const hash = createHash('sha256');
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  return { stream, read: () => ({ bytes, sha256: hash.digest('hex') }) };
}

/**
 * Writes a compressed file of the archive, readable by its owner only. It is on disk when this resolves.
 * @param name its name within the archive
 * @param onBytes called with numbers of bytes that were read from the source
 */
export async function writeCompressed(
  archive: string,
  name: string,
  source: Readable,
  { signal, onBytes }: { signal?: AbortSignal | undefined; onBytes?: (bytes: number) => void } = {},
): Promise<ArchivedFile> {
  const file = await open(join(archive, name), 'wx', 0o600);
  try {
    const gauge = createGauge();
    const gzip = createGzip({ level: LEVEL, chunkSize: CHUNK });
    let read = 0;
    const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
      for await (const chunk of chunks) {
        await file.writeFile(chunk);
        onBytes?.(gzip.bytesWritten - read);
        read = gzip.bytesWritten;
      }
    };
    await pipeline(source, gzip, gauge.stream, write, signal ? { signal } : {});
    await file.sync();
    return { name, ...gauge.read() };
  } finally {
    await file.close();
  }
}

/** Writes a small file of the archive, readable by its owner only. It is on disk when this resolves. */
export async function writeSmall(archive: string, name: string, text: string): Promise<ArchivedFile> {
  await mkdir(dirname(join(archive, name)), { recursive: true, mode: 0o700 });
  const bytes = Buffer.from(text);
  const file = await open(join(archive, name), 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  return { name, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** The uncompressed content of a file of the archive. The caller must have checked the file. */
export function readCompressed(archive: string, { name }: ArchivedFile): Readable {
  const unzip = createGunzip({ chunkSize: CHUNK });
  const raw = createReadStream(join(archive, name), { highWaterMark: CHUNK });
  raw.on('error', (error) => unzip.destroy(error));
  return raw.pipe(unzip);
}

/**
 * Compares a file of the archive with its size and its hash.
 * @throws BackupRefused when the file is missing, or not as it was written
 */
export async function checkFile(archive: string, { name, bytes, sha256 }: ArchivedFile): Promise<void> {
  const path = join(archive, name);
  const found = await ignoreErrno(stat(path), 'ENOENT', 'ENOTDIR');
  if (!found?.isFile()) throw damaged(archive, `${name} is missing`);
  if (found.size !== bytes) throw damaged(archive, `${name} has ${found.size} bytes instead of ${bytes}`);
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: CHUNK }), async (source) => {
    for await (const chunk of source) hash.update(chunk as Buffer);
  });
  if (hash.digest('hex') !== sha256) throw damaged(archive, `${name} was changed`);
}

/** The refusal of an archive that is not as it was written. */
export function damaged(archive: string, what: string): BackupRefused {
  return new BackupRefused(`The backup ${archive} is damaged: ${what}. Use another backup`);
}
