import type { RoadsReport } from '@gantry/contract/map';
import {
  type RoadClass,
  type RoadsLeftOutReason,
  roadClasses,
  roadsLeftOutReasons,
} from '@gantry/contract/map-values';
import { type Properties, roadFactsOf } from './road-class.ts';
import { type RawFeature, Roads, RoadsRefused } from './road-file.ts';

/** Number of features of each kind that the report names. */
const MAX_NAMED = 10;
/** The world ends here on a map in the projection of the web (Web Mercator), in degrees. */
const MAX_LATITUDE = 85.05112878;
/** A file of which more than this share lies elsewhere is in another projection. */
const MAX_OUTSIDE = 0.1;
/** After so many features, all of which lie elsewhere, the rest need not be read. */
const ENOUGH = 1_000;

type Counts = Pick<
  RoadsReport,
  'features' | 'kept' | 'points' | 'named' | 'nameField' | 'classField' | 'classes' | 'leftOut' | 'bounds'
>;

/** What became of the lines of a geometry: their positions, or why there are none. */
type Lines = readonly number[][] | RoadsLeftOutReason;

/** Collects the roads among the features of a file, and counts what is left out and why. */
export class RoadCollection {
  readonly roads = new Roads();
  readonly #leftOut = new Map<RoadsLeftOutReason, { count: number; first: number[] }>();
  readonly #classes = new Map<RoadClass, number>();
  readonly #nameFields = new Map<string, number>();
  readonly #classFields = new Map<string, number>();
  readonly #bounds = { west: 180, south: 90, east: -180, north: -90 };
  #features = 0;
  #kept = 0;
  #named = 0;
  /** The first position that is none in degrees. */
  #outside: { readonly feature: number; readonly at: string } | null = null;

  /** @throws RoadsRefused when the file is in another projection, or has too many points */
  add({ geometry, properties }: RawFeature): void {
    this.#features++;
    const lines = this.#linesOf(geometry);
    const facts = roadFactsOf(isObject(properties) ? (properties as Properties) : null);
    if (typeof lines === 'string' || facts === null) {
      this.#leaveOut(typeof lines === 'string' ? lines : 'NOT_A_ROAD');
      return;
    }
    const { name, nameField, roadClass, classField } = facts;
    for (const line of lines) {
      this.roads.add(line, name, roadClass);
      this.#extend(line);
    }
    this.#kept++;
    if (name !== null) this.#named++;
    countOne(this.#classes, roadClass);
    if (nameField !== null) countOne(this.#nameFields, nameField);
    if (classField !== null) countOne(this.#classFields, classField);
  }

  /** @throws RoadsRefused when no road is left, or the file is in another projection */
  finish(): Counts {
    const outside = this.#leftOut.get('OUTSIDE')?.count ?? 0;
    if (outside > MAX_OUTSIDE * (this.#kept + outside)) throw this.#otherProjection();
    if (this.#features === 0)
      throw new RoadsRefused(
        'The file has no features: GeoJSON needs a FeatureCollection, or a feature on each line',
      );
    if (this.#kept === 0)
      throw new RoadsRefused(
        `None of the ${this.#features} features is a road: lines (LineString or MultiLineString) are needed. ${this.#reasons()}`,
      );
    return {
      features: this.#features,
      kept: this.#kept,
      points: this.roads.points,
      named: this.#named,
      nameField: mostOf(this.#nameFields),
      classField: mostOf(this.#classFields),
      classes: roadClasses.flatMap((roadClass) => {
        const count = this.#classes.get(roadClass);
        return count === undefined ? [] : { roadClass, count };
      }),
      leftOut: roadsLeftOutReasons.flatMap((reason) => {
        const found = this.#leftOut.get(reason);
        return found ? { reason, ...found } : [];
      }),
      bounds: this.#bounds,
    };
  }

  #reasons(): string {
    const all = [...this.#leftOut].map(
      ([reason, { count, first }]) => `${reason}: ${count} (feature ${first[0]})`,
    );
    return `Left out: ${all.join(', ')}`;
  }

  #leaveOut(reason: RoadsLeftOutReason): void {
    const found = this.#leftOut.get(reason) ?? { count: 0, first: [] };
    this.#leftOut.set(reason, found);
    found.count++;
    if (found.first.length < MAX_NAMED) found.first.push(this.#features);
    if (reason === 'OUTSIDE' && found.count === ENOUGH && this.#kept === 0) throw this.#otherProjection();
  }

  #otherProjection(): RoadsRefused {
    const { feature, at } = this.#outside ?? { feature: 1, at: '' };
    return new RoadsRefused(
      `Feature ${feature} has the position ${at}, which is no longitude and latitude: the file is in another projection than WGS 84. Convert it, for example with: ogr2ogr -t_srs EPSG:4326 roads.geojson <file>`,
    );
  }

  #linesOf(geometry: unknown): Lines {
    if (!isObject(geometry)) return 'NO_GEOMETRY';
    const { type, coordinates, geometries } = geometry as Record<string, unknown>;
    if (type === 'LineString') return this.#readLines([coordinates]);
    if (type === 'MultiLineString')
      return Array.isArray(coordinates) ? this.#readLines(coordinates) : 'BROKEN_LINE';
    if (type === 'Point' || type === 'MultiPoint') return 'POINT';
    if (type === 'Polygon') return areRings(coordinates) ? 'AREA' : 'BROKEN_RING';
    if (type === 'MultiPolygon')
      return Array.isArray(coordinates) && coordinates.length > 0 && coordinates.every(areRings)
        ? 'AREA'
        : 'BROKEN_RING';
    if (type === 'GeometryCollection' && Array.isArray(geometries)) {
      // A collection in a collection is not followed.
      const lineTypes: readonly unknown[] = ['LineString', 'MultiLineString'];
      const parts = geometries.filter((each) => isObject(each) && lineTypes.includes(each.type));
      const lines = parts.map((part) => this.#linesOf(part));
      const broken = lines.find((each) => typeof each === 'string');
      return broken ?? (lines.length === 0 ? 'NO_GEOMETRY' : (lines as number[][][]).flat());
    }
    return 'BROKEN_LINE';
  }

  #readLines(lines: readonly unknown[]): Lines {
    if (lines.length === 0) return 'NO_GEOMETRY';
    const read: number[][] = [];
    for (const line of lines) {
      if (!Array.isArray(line) || line.length < 2) return 'BROKEN_LINE';
      const positions: number[] = [];
      for (const position of line) {
        const [longitude, latitude] = Array.isArray(position) ? position : [];
        if (!Number.isFinite(longitude) || !Number.isFinite(latitude)) return 'BROKEN_LINE';
        if (Math.abs(longitude) > 180 || Math.abs(latitude) > MAX_LATITUDE) {
          this.#outside ??= { feature: this.#features, at: `${longitude}, ${latitude}` };
          return 'OUTSIDE';
        }
        positions.push(longitude, latitude);
      }
      read.push(positions);
    }
    return read;
  }

  #extend(line: readonly number[]): void {
    const bounds = this.#bounds;
    for (let at = 0; at < line.length; at += 2) {
      const [longitude = 0, latitude = 0] = [line[at], line[at + 1]];
      if (longitude < bounds.west) bounds.west = longitude;
      if (longitude > bounds.east) bounds.east = longitude;
      if (latitude < bounds.south) bounds.south = latitude;
      if (latitude > bounds.north) bounds.north = latitude;
    }
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Whether all rings of a polygon have at least four positions, the last of which is the first (RFC 7946, 3.1.6). */
function areRings(rings: unknown): boolean {
  return (
    Array.isArray(rings) &&
    rings.length > 0 &&
    rings.every((ring) => {
      if (!Array.isArray(ring) || ring.length < 4) return false;
      const [first, last] = [ring[0], ring.at(-1)];
      return Array.isArray(first) && Array.isArray(last) && first[0] === last[0] && first[1] === last[1];
    })
  );
}

function countOne<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function mostOf(counts: ReadonlyMap<string, number>): string | null {
  return [...counts].sort((one, other) => other[1] - one[1])[0]?.[0] ?? null;
}
