import { sql } from 'drizzle-orm';
import { VIOLATION_EVENT_TYPES } from '../severity.ts';

/** The columns by which the totals count events, after the hour or period, in the order of the primary keys. */
export const TOTALS_KEYS = 'event_type, violation_type, vehicle_type, severity, processed, archived';

/** The values of an event in these columns: '' and 0 stand for none. */
export const KEYS_OF_EVENT = `event_type, coalesce(violation_type, ''), coalesce(vehicle_type, ''), coalesce(severity, 0),
    processed, archived`;

export const totalsKeys = sql.raw(TOTALS_KEYS);
export const keysOfEvent = sql.raw(KEYS_OF_EVENT);

const violationTypes = VIOLATION_EVENT_TYPES.map((type) => `'${type}'`).join(', ');

/**
 * `isViolation` as a condition on rows of events, where a missing violation type is null, and on totals, where it is
 * ''. It may be null instead of false, so it must not be negated.
 */
export const violationCondition = sql.raw(`(event_type IN (${violationTypes}) OR violation_type <> '')`);

/** The columns of events that a statement must return for `countingOf`. */
export const COUNTED_COLUMNS =
  'id, event_type, violation_type, vehicle_type, severity, processed, archived, created_at, sensor_id, location_id, vehicle_speed, direction, lane, vehicle_class, movement, passage_id';

/** The columns of events that `traffic_unfolded` stores as arrays, with the names of the arrays. */
export const UNFOLDED = [
  { of: 'id', as: 'event_ids' },
  { of: 'event_type', as: 'event_types' },
  { of: 'sensor_id', as: 'sensor_ids' },
  { of: 'location_id', as: 'location_ids' },
  { of: 'vehicle_type', as: 'vehicle_types' },
  { of: 'vehicle_speed', as: 'speeds' },
  { of: 'direction', as: 'directions' },
  { of: 'lane', as: 'lanes' },
  { of: 'vehicle_class', as: 'classes' },
  { of: 'movement', as: 'movements' },
  { of: 'passage_id', as: 'passage_ids' },
] as const;

/**
 * An expression that gathers the values of a column of `UNFOLDED`; of passages, null if there are none, so that what is rolled up
 * looks for them only where there are any.
 */
export function gathered(of: (typeof UNFOLDED)[number]['of']): string {
  return of === 'passage_id' ? `CASE WHEN count(${of}) > 0 THEN array_agg(${of}) END` : `array_agg(${of})`;
}

/** The hour in which an event was stored. */
export const HOUR_OF_ARRIVAL = `date_trunc('hour', created_at, 'UTC')`;

/** Statements that count events, each for use in a WITH clause. */
export interface Counting {
  /** By the hour in which the events were stored. */
  readonly arrivals: string;
  /** By the hour of the event and by the keys of the totals. */
  readonly totals: string;
  /** As vehicles that passed a sensor. */
  readonly traffic: string;
}

/**
 * The statements that add events to all counts, or subtract them.
 * @param rows a table or a query of the WITH clause with the columns of these events
 * @param sign 1 to add, -1 to subtract
 */
export function countingOf(rows: string, sign: 1 | -1): Counting {
  return {
    arrivals: `INSERT INTO event_arrivals (hour, n)
      SELECT ${HOUR_OF_ARRIVAL}, ${sign} * count(*) FROM ${rows} GROUP BY 1`,
    totals: `INSERT INTO event_totals (hour, ${TOTALS_KEYS}, n)
      SELECT event_hour(id), ${KEYS_OF_EVENT}, ${sign} * count(*) FROM ${rows} GROUP BY 1, 2, 3, 4, 5, 6, 7`,
    traffic: `INSERT INTO traffic_unfolded
        (${UNFOLDED.map(({ as }) => as).join(', ')}, sign, first_id, last_id)
      SELECT ${UNFOLDED.map(({ of }) => gathered(of)).join(', ')}, ${sign},
        min(id::text COLLATE "C")::uuid, max(id::text COLLATE "C")::uuid
      FROM ${rows} HAVING count(*) > 0`,
  };
}
