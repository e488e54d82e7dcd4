import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { DAY_MS } from '@gantry/contract/durations';
import type { CurrentRoads, StagedRoads } from '@gantry/contract/map';
import { MAX_ROADS_FILE_BYTES } from '@gantry/contract/map-values';
import { hasErrno, ignoreErrno } from '@gantry/embedded-postgres/errno';
import { bytesToHeader } from 'pmtiles';
import { AppError, unavailable } from '../platform/error.ts';
import { machineTime } from '../platform/machine-time.ts';

/** The file with the roads on the map, and what tells it from the next one. */
export interface RoadsOnMap extends CurrentRoads {
  /** For the URL, so that no browser mixes two files. */
  readonly version: string;
}

/** What is kept of a file that is not applied. */
export type StagedRecord = Omit<StagedRoads, 'at'> & { readonly at: string };

/** A record that nobody has written for so long is of a process that ended, in milliseconds. */
const SILENT_MS = 30_000;

/** How the ids of files begin that a command reads, while the service may receive others. */
export const BY_COMMAND = 'command-';

const HEADER_BYTES = 127;
const MAX_METADATA_BYTES = 1_048_576;
const unzip = promisify(gunzip);

/**
 * The folder `map` in the data folder: `roads.pmtiles`, which is on the map, and a file that was received and is not applied, with its
 * record `staged.json`. Files are replaced by renaming, so every process sees the old or the new one.
 */
export class RoadsFolder {
  readonly #folder: string;

  /** @param dataDir the data folder of the service */
  constructor(dataDir: string) {
    this.#folder = join(dataDir, 'map');
  }

  /** The tiles of the roads on the map. */
  get roads(): string {
    return join(this.#folder, 'roads.pmtiles');
  }

  /** Where a file that was received is kept while it is read. */
  uploadOf(id: string): string {
    return join(this.#folder, `${id}.upload`);
  }

  /** The tiles of a file that is not applied. */
  tilesOf(id: string): string {
    return join(this.#folder, `${id}.pmtiles`);
  }

  /** Makes the folder, and removes what commands left in it that were ended. */
  async prepare(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o755 });
    const names = await readdir(this.#folder);
    for (const name of names.filter((each) => each.startsWith(BY_COMMAND))) {
      const path = join(this.#folder, name);
      const left = await ignoreErrno(stat(path), 'ENOENT');
      if (left && machineTime() - left.mtimeMs > DAY_MS) await rm(path, { recursive: true, force: true });
    }
  }

  /**
   * Stores a file as it arrives.
   * @returns its id
   * @throws AppError `badRequest` when it is empty, too large, or does not arrive as a whole; `unavailable` when the disk is full
   */
  async receive(input: Readable): Promise<string> {
    const id = randomUUID();
    const path = this.uploadOf(id);
    let bytes = 0;
    await this.prepare();
    try {
      await pipeline(
        input,
        async function* count(chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            bytes += chunk.length;
            if (bytes > MAX_ROADS_FILE_BYTES) throw tooLarge();
            yield chunk;
          }
        },
        createWriteStream(path, { mode: 0o600 }),
      );
      if (bytes === 0)
        throw new AppError('badRequest', 'The file is empty: send it as the body of the request');
      return id;
    } catch (error) {
      await rm(path, { force: true });
      if (hasErrno(error, 'ENOSPC', 'EDQUOT'))
        throw unavailable('The disk of the service is full: make room and try again', error);
      if (hasErrno(error, 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'))
        throw new AppError('badRequest', 'The file did not arrive as a whole: send it again');
      throw error;
    }
  }

  /** The file that was received last and is not applied; null if there is none. */
  async staged(): Promise<StagedRecord | null> {
    const path = join(this.#folder, 'staged.json');
    const text = await ignoreErrno(readFile(path, 'utf8'), 'ENOENT');
    if (text === undefined) return null;
    const record = JSON.parse(text) as StagedRecord;
    if (record.state !== 'READING') return record;
    const { mtimeMs } = (await ignoreErrno(stat(path), 'ENOENT')) ?? { mtimeMs: 0 };
    if (machineTime() - mtimeMs < SILENT_MS) return record;
    return {
      ...record,
      state: 'REFUSED',
      problem: 'The process that read the file has ended: send the file again',
    };
  }

  /** Replaces the record of what is staged. */
  async note(record: StagedRecord): Promise<void> {
    const draft = join(this.#folder, `staged.json.${process.pid}.${randomUUID()}`);
    await writeFile(draft, JSON.stringify(record), { mode: 0o600 });
    await rename(draft, join(this.#folder, 'staged.json'));
  }

  /** Puts tiles on the map, in place of others. @returns false if they are no longer there */
  async apply(id: string): Promise<boolean> {
    return (
      (await ignoreErrno(
        rename(this.tilesOf(id), this.roads).then(() => true),
        'ENOENT',
      )) ?? false
    );
  }

  /** Removes what was received and is not on the map. @param except the id of a file that is kept */
  async clear(except = ''): Promise<void> {
    const kept = ['roads.pmtiles', `${except}.upload`];
    const names = (await ignoreErrno(readdir(this.#folder), 'ENOENT')) ?? [];
    for (const name of names.filter((each) => !kept.includes(each) && !each.startsWith(BY_COMMAND)))
      await rm(join(this.#folder, name), { recursive: true, force: true });
  }

  async removeUpload(id: string): Promise<void> {
    await rm(this.uploadOf(id), { force: true });
  }

  /** Takes the roads off the map. @returns false if there were none */
  async remove(): Promise<boolean> {
    return (
      (await ignoreErrno(
        rm(this.roads).then(() => true),
        'ENOENT',
      )) ?? false
    );
  }

  /** The roads on the map; null if there are none, or the file is not one that Gantry made. */
  async current(): Promise<RoadsOnMap | null> {
    const file = await ignoreErrno(open(this.roads, 'r'), 'ENOENT', 'ENOTDIR');
    if (!file) return null;
    try {
      const { size, mtimeMs, ino } = await file.stat();
      const start = await readPart(file, 0, HEADER_BYTES);
      const header = bytesToHeader(
        start.buffer.slice(start.byteOffset, start.byteOffset + start.length) as ArrayBuffer,
      );
      if (header.jsonMetadataLength > MAX_METADATA_BYTES) return null;
      const json = await unzip(await readPart(file, header.jsonMetadataOffset, header.jsonMetadataLength));
      const { gantry } = JSON.parse(json.toString()) as {
        gantry: Omit<CurrentRoads, 'at'> & { readonly at: string };
      };
      const version = createHash('sha256')
        .update(`${size} ${mtimeMs} ${ino} ${gantry.id}`)
        .digest('hex')
        .slice(0, 16);
      return { ...gantry, at: new Date(gantry.at), report: { ...gantry.report, bytes: size }, version };
    } catch {
      return null;
    } finally {
      await file.close();
    }
  }
}

async function readPart(file: Awaited<ReturnType<typeof open>>, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
  if (bytesRead < length) throw new Error('the file ends too early');
  return buffer;
}

function tooLarge(): AppError {
  return new AppError(
    'badRequest',
    `The file has more than ${MAX_ROADS_FILE_BYTES / 1e6} MB: leave out minor roads, or send it in a ZIP archive`,
  );
}
