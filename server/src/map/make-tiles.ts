import { GeoJSONVT, type GeoJSONVTFeature, type GeoJSONVTTile } from '@maplibre/geojson-vt';
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import type { Feature } from 'geojson';
import type { TilesFile } from './pmtiles-file.ts';
import { rankOf } from './road-class.ts';
import { type OnProgress, type Roads, RoadsRefused, UNITS_PER_DEGREE } from './road-file.ts';

/** The zoom levels of the tiles. Beyond the last one, the map enlarges its tiles, in which a unit is half a metre. */
export const MIN_ZOOM = 5;
export const MAX_ZOOM = 14;
/** From this level on, tiles are made area by area, so that only the roads of one area are in memory as features. */
const AREA_ZOOM = 11;

/** The first zoom level of roads, by the rank of their class. */
const FIRST_ZOOM = [5, 5, 7, 9, 10, 11, 13, 13];

/** More points make a tile slow to load and to draw. */
const MAX_TILE_POINTS = 40_000;
/** In the tiles of large areas, so many lines are considered at most, the most important and longest first. */
const MAX_WIDE_LINES = 150_000;

/** The coordinates within a tile, and how far tiles overlap, in these units. */
const EXTENT = 4096;
const BUFFER = 64;
const OPTIONS = { indexMaxZoom: 0, indexMaxPoints: 0, tolerance: 3, extent: EXTENT, buffer: BUFFER };

/** The name of the layer in the tiles. */
export const LAYER = 'roads';

/**
 * Makes the tiles of all zoom levels.
 * @returns the number of tiles in which roads are left out because there are too many
 */
export async function makeTiles(roads: Roads, file: TilesFile, onProgress: OnProgress): Promise<number> {
  let thinned = 0;
  const write = async (index: GeoJSONVT, z: number, x: number, y: number, last: number): Promise<void> => {
    const tile = index.getTile(z, x, y);
    // Nothing lies here, also on higher levels. A tile without features may only lack small ones.
    if (!tile) return;
    if (z >= MIN_ZOOM) {
      const seen = tile.features.filter(
        (each: GeoJSONVTFeature) => (FIRST_ZOOM[rankIn(each)] ?? MAX_ZOOM) <= z,
      );
      const kept = mostImportant(seen);
      if (kept.length < seen.length) thinned++;
      if (kept.length > 0) {
        const features = kept.map((each) => ({ ...each, tags: tagsFor(each) })) as GeoJSONVTTile['features'];
        const bytes = fromGeojsonVt({ [LAYER]: { ...tile, features } }, { version: 2, extent: EXTENT });
        await file.add(z, x, y, bytes);
      }
    }
    if (z === last) return;
    for (const [right, down] of QUARTERS) await write(index, z + 1, 2 * x + right, 2 * y + down, last);
  };

  const areas = areasOf(roads);
  const wide = linesForWideTiles(roads);
  if (wide.length > 0) {
    const index = indexOf(roads, wide, AREA_ZOOM - 1);
    for (const [x, y] of tilesAbove(areas.keys(), MIN_ZOOM))
      await write(index, MIN_ZOOM, x, y, AREA_ZOOM - 1);
  }
  let done = 0;
  for (const [key, lines] of areas) {
    const [x, y] = [Math.floor(key / SIDE), key % SIDE];
    await write(indexOf(roads, lines, MAX_ZOOM), AREA_ZOOM, x, y, MAX_ZOOM);
    onProgress(++done / areas.size);
  }
  return thinned;
}

const QUARTERS = [
  [0, 0],
  [1, 0],
  [0, 1],
  [1, 1],
] as const;
const SIDE = 2 ** AREA_ZOOM;

const rankIn = ({ tags }: GeoJSONVTFeature): number => Number(tags?.rank);

/** What the console reads of a road: its class in lower case, and its name. */
function tagsFor({ tags }: GeoJSONVTFeature): Record<string, string> {
  const { name, kind } = tags as { name: string | null; kind: string };
  return name === null ? { kind } : { kind, name };
}

const pointsIn = ({ geometry }: GeoJSONVTFeature): number =>
  (geometry as readonly unknown[][]).reduce((sum, line) => sum + line.length, 0);

/** Leaves out the least important and shortest roads of a tile with too many points. The most important are drawn last. */
function mostImportant(features: readonly GeoJSONVTFeature[]): GeoJSONVTFeature[] {
  const order = (each: GeoJSONVTFeature) => [rankIn(each), -Number(each.tags?.length)] as const;
  const sorted = features.toSorted((one, other) => {
    const [[rank, size], [otherRank, otherSize]] = [order(one), order(other)];
    return rank - otherRank || size - otherSize;
  });
  let points = 0;
  const end = sorted.findIndex((each) => {
    points += pointsIn(each);
    return points > MAX_TILE_POINTS;
  });
  // A single road of so many points is kept.
  return sorted.slice(0, end === -1 ? sorted.length : Math.max(end, 1)).reverse();
}

function indexOf(roads: Roads, lines: readonly number[], maxZoom: number): GeoJSONVT {
  const features = lines.map((at): Feature => {
    const points = roads.line(at);
    const coordinates: number[][] = [];
    for (let place = 0; place < points.length; place += 2)
      coordinates.push([
        (points[place] ?? 0) / UNITS_PER_DEGREE,
        (points[place + 1] ?? 0) / UNITS_PER_DEGREE,
      ]);
    const roadClass = roads.roadClass(at);
    const properties = {
      name: roads.name(at),
      kind: roadClass.toLowerCase(),
      rank: rankOf(roadClass),
      length: lengthOf(points),
    };
    return { type: 'Feature', properties, geometry: { type: 'LineString', coordinates } };
  });
  return new GeoJSONVT({ type: 'FeatureCollection', features }, { ...OPTIONS, maxZoom });
}

/** The length of a line in units of its coordinates, to compare roads of one area. */
function lengthOf(points: Int32Array): number {
  let sum = 0;
  for (let at = 2; at < points.length; at += 2)
    sum += Math.hypot(
      (points[at] ?? 0) - (points[at - 2] ?? 0),
      (points[at + 1] ?? 0) - (points[at - 1] ?? 0),
    );
  return sum;
}

function linesForWideTiles(roads: Roads): readonly number[] {
  const found: { at: number; rank: number; length: number }[] = [];
  for (let at = 0; at < roads.lines; at++) {
    const rank = rankOf(roads.roadClass(at));
    if ((FIRST_ZOOM[rank] ?? MAX_ZOOM) < AREA_ZOOM)
      found.push({ at, rank, length: lengthOf(roads.line(at)) });
  }
  if (found.length > MAX_WIDE_LINES) {
    found.sort((one, other) => one.rank - other.rank || other.length - one.length);
    found.length = MAX_WIDE_LINES;
  }
  return found.map(({ at }) => at);
}

/** The lines of each area that has some: x · SIDE + y of its tile. */
function areasOf(roads: Roads): Map<number, number[]> {
  const areas = new Map<number, number[]>();
  let parts = 0;
  const note = (at: number, x: number, y: number): void => {
    if (x < 0 || x >= SIDE || y < 0 || y >= SIDE) return;
    const lines = areas.get(x * SIDE + y);
    if (lines?.at(-1) === at) return;
    if (lines) lines.push(at);
    else areas.set(x * SIDE + y, [at]);
    if (++parts > MAX_PARTS || areas.size > MAX_AREAS)
      throw new RoadsRefused(
        `The roads spread over too large an area (more than ${MAX_AREAS.toLocaleString('en')} tiles of zoom level ${AREA_ZOOM}): choose a smaller one`,
      );
  };
  for (let at = 0; at < roads.lines; at++) {
    const points = roads.line(at);
    let [beforeX, beforeY] = [tileX(points[0] ?? 0), tileY(points[1] ?? 0)];
    for (let place = 2; place < points.length; place += 2) {
      const [x, y] = [tileX(points[place] ?? 0), tileY(points[place + 1] ?? 0)];
      // In steps of at most one tile, because the rectangle around a long line has many tiles far from it.
      const steps = Math.max(1, Math.ceil(Math.max(Math.abs(x - beforeX), Math.abs(y - beforeY))));
      for (let step = 0; step < steps; step++) {
        const [fromX, toX] = [step, step + 1].map((n) => beforeX + ((x - beforeX) * n) / steps) as [
          number,
          number,
        ];
        const [fromY, toY] = [step, step + 1].map((n) => beforeY + ((y - beforeY) * n) / steps) as [
          number,
          number,
        ];
        const [west, east] = [
          Math.floor(Math.min(fromX, toX) - MARGIN),
          Math.floor(Math.max(fromX, toX) + MARGIN),
        ];
        const [north, south] = [
          Math.floor(Math.min(fromY, toY) - MARGIN),
          Math.floor(Math.max(fromY, toY) + MARGIN),
        ];
        for (let column = west; column <= east; column++)
          for (let row = north; row <= south; row++) note(at, column, row);
      }
      [beforeX, beforeY] = [x, y];
    }
  }
  return areas;
}

/** Maximum number of areas (Europe has some 35,000), and of lines in them, each counted once in each. */
const MAX_AREAS = 50_000;
const MAX_PARTS = 20_000_000;
/** How far tiles overlap, as a share of a tile. */
const MARGIN = BUFFER / EXTENT;

const tileX = (longitude: number): number => (longitude / UNITS_PER_DEGREE / 360 + 0.5) * SIDE;

/** Web Mercator. */
function tileY(latitude: number): number {
  const sine = Math.sin((latitude / UNITS_PER_DEGREE / 180) * Math.PI);
  return (0.5 - (0.25 * Math.log((1 + sine) / (1 - sine))) / Math.PI) * SIDE;
}

/** The tiles of a lower zoom level that contain the areas. */
function tilesAbove(areas: Iterable<number>, zoom: number): Iterable<readonly [number, number]> {
  const shrink = 2 ** (AREA_ZOOM - zoom);
  const found = new Map<number, readonly [number, number]>();
  for (const key of areas) {
    const [x, y] = [Math.floor(Math.floor(key / SIDE) / shrink), Math.floor((key % SIDE) / shrink)];
    found.set(x * SIDE + y, [x, y]);
  }
  return found.values();
}
