import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import type { CurrentRoads, RoadsReport } from '@gantry/contract/map';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import { RoadCollection } from './collect-roads.ts';
import { readGeoPackage } from './geopackage-store.ts';
import { joinLines } from './join-lines.ts';
import { LAYER, MAX_ZOOM, MIN_ZOOM, makeTiles } from './make-tiles.ts';
import { TilesFile } from './pmtiles-file.ts';
import { readGeoJson } from './read-geojson.ts';
import { readShapefile } from './read-shapefile.ts';
import { type FeatureReceiver, type OnProgress, type ReadFile, RoadsRefused } from './road-file.ts';
import { isArchive, startOf, type UnpackedFiles, unpack } from './unpack.ts';

/** The share of the work that reading is; the rest is making tiles. */
const READING = 0.5;

/** What is recorded in the file of tiles, which everybody may read, besides what the tiles need. */
export type RoadsOrigin = Omit<CurrentRoads, 'report' | 'at'> & { readonly at: string };

/**
 * Makes the tiles of the roads in a file.
 * @param path GeoJSON, a GeoPackage, a .shp beside its other parts, or a ZIP archive of one of these
 * @param target the file of tiles (PMTiles, version 3)
 * @throws RoadsRefused when the file cannot be used; the message says what would be right
 */
export async function makeRoads(
  path: string,
  target: string,
  origin: RoadsOrigin,
  onProgress: OnProgress,
): Promise<RoadsReport> {
  const scratch = await mkdtemp(`${target}.`);
  try {
    const collection = new RoadCollection();
    const read = await readFile(
      path,
      scratch,
      (feature) => collection.add(feature),
      (share) => onProgress(share * READING),
    );
    const counts = collection.finish();
    const roads = joinLines(collection.roads);
    await using file = await TilesFile.create(join(scratch, 'roads'));
    const thinnedTiles = await makeTiles(roads, file, (share) => onProgress(READING + share * (1 - READING)));
    const report = { ...read, ...counts, tiles: file.tiles, thinnedTiles, bytes: 0 };
    const facts = { minZoom: MIN_ZOOM, maxZoom: MAX_ZOOM, bounds: counts.bounds };
    const metadata = {
      name: origin.fileName ?? 'Roads',
      attribution: origin.attribution ?? '',
      vector_layers: [
        { id: LAYER, minzoom: MIN_ZOOM, maxzoom: MAX_ZOOM, fields: { kind: 'String', name: 'String' } },
      ],
      gantry: { ...origin, report },
    };
    const bytes = await file.finish({ ...facts, metadata }, target);
    return { ...report, bytes };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function readFile(
  path: string,
  scratch: string,
  receive: FeatureReceiver,
  onProgress: OnProgress,
): Promise<ReadFile> {
  const start = await startOf(path);
  if (isArchive(start)) {
    const files = await unpack(path, scratch);
    const single = files.gpkg ?? files.geojson ?? files.geojsonl ?? (files.shp ? undefined : files.json);
    if (single !== undefined) return readFile(single, scratch, receive, onProgress);
    if (files.shp === undefined)
      throw new RoadsRefused(
        'The archive has no file with roads: .shp with .dbf and .prj, .geojson or .gpkg are read',
      );
    return readShapefile(files, receive, onProgress);
  }
  if (start.toString('latin1').startsWith('SQLite format 3'))
    return readGeoPackage(path, receive, onProgress);
  if (start.length >= 4 && start.readUInt32BE(0) === SHAPEFILE)
    return readShapefile(await partsOf(path), receive, onProgress);
  const { size } = await stat(path);
  let done = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of createReadStream(path, { highWaterMark: 1_048_576 })) {
      yield chunk as Buffer;
      done += (chunk as Buffer).length;
      onProgress(done / Math.max(size, 1));
    }
  }
  return readGeoJson(counted(), receive);
}

/** The number with which a .shp file begins. */
const SHAPEFILE = 9994;

/** The other parts of a shapefile, which have the same name in the same folder. */
async function partsOf(shp: string): Promise<UnpackedFiles> {
  const stem = join(dirname(shp), shp.slice(dirname(shp).length + 1, shp.length - extname(shp).length));
  const files: UnpackedFiles = { shp };
  for (const kind of ['dbf', 'prj', 'cpg'] as const) {
    for (const end of [kind, kind.toUpperCase()]) {
      if (await ignoreErrno(stat(`${stem}.${end}`), 'ENOENT', 'ENOTDIR')) files[kind] ??= `${stem}.${end}`;
    }
  }
  return files;
}
