import type { Executor } from '../../platform/database/transaction.ts';
import { type PointAround, readPointsAround } from '../points-store.ts';
import type { Place } from '../slots-store.ts';
import type { Facility, Setting } from './rules.ts';

/** What rules need to know about where a sensor stands. */
export interface Surroundings {
  readonly facility: Facility;
  readonly setting: Setting;
  /** The number of lanes that a count without a lane is of; null if it is not known. */
  readonly lanes: number | null;
}

/** Where nothing is entered. The share of empty samples of a quiet road is no fault, so it is not taken for a busy one. */
const UNKNOWN: Surroundings = { facility: 'MAINLINE', setting: 'RURAL', lanes: null };

/** The surroundings of each sensor of a place, by its assignments or else the points of the location. */
export interface SurroundingsOfPlace {
  /** Of all its points together. */
  readonly whole: Surroundings;
  readonly of: (sensorId: string) => Surroundings;
}

/**
 * What is entered about the surroundings of the sensors of a place, as it is valid at a time (Unix milliseconds).
 */
export async function readSurroundings(
  db: Executor,
  place: Pick<Place, 'kind' | 'id'>,
  at: number,
): Promise<SurroundingsOfPlace> {
  const points = await readPointsAround(db, place, at);
  const whole = together(points);
  const assigned = new Set(points.flatMap(({ sensorId }) => sensorId ?? []));
  const known = new Map(
    [...assigned].map((id) => [id, together(points.filter(({ sensorId }) => sensorId === id))]),
  );
  return {
    whole: place.kind === 'sensor' ? (known.get(place.id) ?? whole) : whole,
    of: (id) => known.get(id) ?? whole,
  };
}

/** Several points as one: the facility that is first among them, and all their lanes. */
function together(points: readonly PointAround[]): Surroundings {
  const each = [...new Map(points.map((point) => [point.id, point])).values()];
  const [first] = each;
  if (!first) return UNKNOWN;
  const lanes = each.map((point) => point.lanes);
  return {
    facility: first.facility,
    setting: each.every(({ setting }) => setting === 'URBAN') ? 'URBAN' : 'RURAL',
    lanes: lanes.reduce<number | null>((sum, n) => (sum === null || n === null ? null : sum + n), 0),
  };
}
