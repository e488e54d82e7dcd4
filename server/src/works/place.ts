import { MAX_POSITIONS, type WorksGeometry, type WorksOnMap } from '@gantry/contract/works';

// Where works are drawn on a map, as pure functions.

/** Longitude and latitude, in degrees. */
export type Position = readonly [number, number];

/** A location of a road whose kilometre and position are known. */
export interface RoadPoint {
  readonly name: string;
  readonly kilometre: number;
  readonly direction: string | null;
  readonly position: Position;
}

/** What is known about where works are. */
export interface Whereabouts {
  readonly geometry: WorksGeometry | null;
  readonly fromKilometre: number | null;
  readonly toKilometre: number | null;
  readonly direction: string | null;
  /** The location of the works. */
  readonly location: { readonly name: string; readonly position: Position } | null;
  /** Those of the road of the works. */
  readonly roadPoints: readonly RoadPoint[];
  readonly sensorPositions: readonly Position[];
}

/** Between locations that are further apart, a straight line says too little about the road. */
const MAX_GAP_KM = 10;
/** A location of the road that is further from the works does not show where they are. */
const MAX_NEAR_KM = 5;
/** Sensors that are further apart are at several places. */
const MAX_SENSORS_KM = 1;
/** A straight line is at most as long as the road; positions and kilometres are rounded. */
const TOLERANCE = { share: 1.05, km: 0.1 } as const;

/** Where works are drawn on a map; null if it is not known. */
export function placeOnMap(where: Whereabouts): WorksOnMap {
  const { geometry, location, sensorPositions } = where;
  const computed = betweenKilometres(where);
  if (geometry?.type === 'LineString' || (geometry && computed?.type !== 'LineString'))
    return { geometry, basis: 'GEOMETRY', location: null };
  if (computed) return { geometry: computed, basis: 'KILOMETRES', location: null };
  if (location) return { geometry: pointAt(location.position), basis: 'LOCATION', location: location.name };
  const nearest = nearestPoint(where);
  if (nearest) return { geometry: pointAt(nearest.position), basis: 'NEAREST', location: nearest.name };
  const [first] = sensorPositions;
  return first && sensorPositions.every((each) => kmBetween(first, each) <= MAX_SENSORS_KM)
    ? { geometry: pointAt(first), basis: 'SENSORS', location: null }
    : null;
}

function pointAt([longitude, latitude]: Position): WorksGeometry {
  return { type: 'Point', coordinates: [longitude, latitude] };
}

const endsOf = ({ fromKilometre, toKilometre }: Whereabouts): number[] =>
  [fromKilometre, toKilometre].filter((each) => each !== null);

/** The line or point between known kilometres: of the carriageway if it has enough of them, otherwise of the road. */
function betweenKilometres(where: Whereabouts): WorksGeometry | null {
  const ends = endsOf(where);
  if (ends.length === 0) return null;
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const { direction, roadPoints } = where;
  const ofCarriageway = roadPoints.filter(
    (each) => each.direction === null || each.direction === 'BOTH' || each.direction === direction,
  );
  return along(ofCarriageway, low, high) ?? along(roadPoints, low, high);
}

/** The line from one kilometre to another through the points in between; null unless points enclose both. */
function along(points: readonly RoadPoint[], low: number, high: number): WorksGeometry | null {
  const byKilometre = new Map(points.map((each) => [each.kilometre, each]));
  const known = [...byKilometre.values()].sort((one, other) => one.kilometre - other.kilometre);
  const first = known.findLastIndex(({ kilometre }) => kilometre <= low);
  const last = known.findIndex(({ kilometre }) => kilometre >= high);
  if (first < 0 || last < 0) return null;
  const chain = known.slice(first, last + 1);
  if (!chain.every((each, n) => n === 0 || isFollowed(chain[n - 1] ?? each, each))) return null;
  const [start, end] = [positionAt(chain, low), positionAt(chain, high)];
  if (low === high) return pointAt(start);
  const inner = chain.filter(({ kilometre }) => kilometre > low && kilometre < high);
  const step = Math.ceil((inner.length + 1) / (MAX_POSITIONS - 2));
  const through = inner.filter((_, n) => n % step === 0).map(({ position }) => position);
  return {
    type: 'LineString',
    coordinates: [start, ...through, end].map(([longitude, latitude]) => [longitude, latitude]),
  };
}

/** Whether the road can lead from one point to the next: near enough, and not further apart than their kilometres say. */
function isFollowed(one: RoadPoint, next: RoadPoint): boolean {
  const gap = next.kilometre - one.kilometre;
  const isAcross = Math.abs(next.position[0] - one.position[0]) > 180;
  const straight = kmBetween(one.position, next.position);
  return gap <= MAX_GAP_KM && !isAcross && straight <= gap * TOLERANCE.share + TOLERANCE.km;
}

/** The position at a kilometre that the chain encloses. */
function positionAt(chain: readonly RoadPoint[], kilometre: number): Position {
  const next = chain.findIndex((each) => each.kilometre >= kilometre);
  const [before, after] = [chain[Math.max(next - 1, 0)], chain[next]];
  if (!before || !after) throw new Error(`Kilometre ${kilometre} is beyond the locations`);
  const gap = after.kilometre - before.kilometre;
  const share = gap === 0 ? 1 : (kilometre - before.kilometre) / gap;
  const between = (axis: 0 | 1) =>
    Number((before.position[axis] + (after.position[axis] - before.position[axis]) * share).toFixed(6));
  return [between(0), between(1)];
}

/** The location of the road that is nearest to the kilometres; null if all are far away. */
function nearestPoint(where: Whereabouts): RoadPoint | null {
  const ends = endsOf(where);
  if (ends.length === 0) return null;
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  let nearest: { readonly point: RoadPoint; readonly away: number } | null = null;
  for (const point of where.roadPoints) {
    const away = Math.max(low - point.kilometre, point.kilometre - high, 0);
    if (away <= MAX_NEAR_KM && (nearest === null || away < nearest.away)) nearest = { point, away };
  }
  return nearest?.point ?? null;
}

const EARTH_KM = 6_371;
const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** The distance of two positions on the sphere, in km. */
function kmBetween([east, north]: Position, [otherEast, otherNorth]: Position): number {
  const [width, height] = [radians(otherEast - east), radians(otherNorth - north)];
  const half =
    Math.sin(height / 2) ** 2 +
    Math.cos(radians(north)) * Math.cos(radians(otherNorth)) * Math.sin(width / 2) ** 2;
  return 2 * EARTH_KM * Math.asin(Math.sqrt(half));
}
