import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_ROADS_FILE_BYTES } from '@gantry/contract/map-values';
import { hasErrno } from '@gantry/embedded-postgres/errno';
import { Unzip, UnzipInflate } from 'fflate';
import { RoadsRefused } from './road-file.ts';

/** The kinds of files that are read, by the end of their names. */
const KINDS = ['shp', 'dbf', 'prj', 'cpg', 'gpkg', 'geojson', 'geojsonl', 'json'] as const;
export type RoadFileKind = (typeof KINDS)[number];

/** The files of an archive, by their kind. */
export type UnpackedFiles = Partial<Record<RoadFileKind, string>>;

/** Unpacked files may be this much larger than the archive may be. */
const MAX_UNPACKED_BYTES = 4 * MAX_ROADS_FILE_BYTES;

/** The first bytes of a file. */
export async function startOf(path: string, bytes = 16): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Whether a file begins like a ZIP archive. */
export function isArchive(start: Buffer): boolean {
  return start.subarray(0, 4).equals(Buffer.from('PK\u0003\u0004', 'latin1'));
}

/**
 * Unpacks the files of a ZIP archive that are read into the folder, under names of its own.
 * @throws RoadsRefused when it is damaged, has several files of one kind, or is too large
 */
export async function unpack(archive: string, folder: string): Promise<UnpackedFiles> {
  const found: UnpackedFiles = {};
  // Written at once, because whoever unpacks has nothing else to do, and the library does not wait.
  const files: number[] = [];
  let bytes = 0;
  const unzip = new Unzip((entry) => {
    const name = entry.name.split('/').at(-1) ?? '';
    const kind = KINDS.find((each) => name.toLowerCase().endsWith(`.${each}`));
    // Copies that macOS adds begin with a dot.
    if (kind === undefined || name.startsWith('.')) return;
    if (found[kind] !== undefined)
      throw new RoadsRefused(`The archive has more than one .${kind}: send the layer with the roads alone`);
    const path = join(folder, `unpacked.${kind}`);
    found[kind] = path;
    const file = openSync(path, 'w', 0o600);
    files.push(file);
    entry.ondata = (error, data) => {
      if (error) throw error;
      bytes += data.length;
      if (bytes > MAX_UNPACKED_BYTES)
        throw new RoadsRefused(
          `The archive has more than ${MAX_UNPACKED_BYTES / 1e6} MB unpacked: divide it`,
        );
      writeSync(file, data);
    };
    entry.start();
  });
  unzip.register(UnzipInflate);
  try {
    for await (const chunk of createReadStream(archive)) unzip.push(chunk as Buffer);
    unzip.push(new Uint8Array(0), true);
  } catch (error) {
    if (error instanceof RoadsRefused || hasErrno(error, 'ENOSPC', 'EDQUOT')) throw error;
    throw new RoadsRefused(`The ZIP archive is damaged (${(error as Error).message}): make it again`);
  } finally {
    for (const file of files) closeSync(file);
  }
  return found;
}
