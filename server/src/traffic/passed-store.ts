import { MINUTE_MS } from '@gantry/contract/durations';
import { type SQL, sql } from 'drizzle-orm';
import { UNFOLDED } from '../events/counts/counting.ts';
import { idWithin } from '../events/counts/totals.ts';
import { firstIdAt } from '../events/id.ts';
import type { Interval } from '../platform/time.ts';

// Vehicles in events: in those that wait to be rolled up, and in those that are stored.

/**
 * The time since which traffic counts are kept, as an expression. Everything before it was removed and is a gap, even
 * if rows remain.
 */
export const keptSince = sql.raw('(SELECT since FROM traffic_kept)');

/** The origin of slots, which begin on full hours and days in UTC. */
export const ORIGIN = sql.raw(`timestamptz '2000-01-01 00:00Z'`);

/** The highest plausible speed of a vehicle, in km/h. */
export const MAX_SPEED = 250;

/**
 * What a sensor reported: passages that it detected, plates that it read, anything else, or counts of intervals. 0: counted
 * before 0064.
 */
export const source = { EARLIER: 0, DETECTION: 1, PLATE: 2, OTHER: 3, COUNTED: 4 } as const;

/** The source of an event, as an expression on its type. */
export const sourceOf =
  sql.raw(`(CASE WHEN event_type IN ('VEHICLE_DETECTION', 'SPEED_DETECTION') THEN ${source.DETECTION}
      WHEN event_type = 'PLATE_RECOGNITION' THEN ${source.PLATE} ELSE ${source.OTHER} END)::smallint`);

/** The type of an event if it is not the usual one of its source, otherwise ''. */
export const unusualType = sql.raw(
  `(CASE WHEN event_type IN ('VEHICLE_DETECTION', 'PLATE_RECOGNITION', 'INCIDENT') THEN '' ELSE event_type END)`,
);

/** The columns that distinguish kinds of vehicles. */
export const KIND = sql.raw('vehicle_type, vehicle_class, direction, lane, movement, event_type');

/** The condition for vehicles in `traffic_unfolded` within the range. */
export function passedWithin({ from, until }: Interval): SQL {
  return sql.join(
    [sql`true`, ...idWithin({ from, until }).map((condition) => sql`${condition}`)],
    sql` AND `,
  );
}

/**
 * The rows of `traffic_unfolded` that may overlap the range. A bulk import leaves many rows, and unnesting one is far
 * more expensive than checking its ends.
 */
export function groupsWithin({ from, until }: Interval): SQL {
  return sql`(
  SELECT * FROM traffic_unfolded
  WHERE (last_id IS NULL OR last_id >= ${firstIdAt(from)}::uuid)
    AND (first_id IS NULL OR first_id < ${firstIdAt(until)}::uuid)
)`;
}

const COLUMNS = UNFOLDED.map(({ of }) => (of === 'vehicle_speed' ? 'speed' : of));

/** The columns of the events in the arrays of `traffic_unfolded`. */
export const PASSED = sql.raw(COLUMNS.join(', '));
/** The rows of the arrays, for a FROM clause. */
export const UNNESTED = sql`unnest(${sql.raw(UNFOLDED.map(({ as }) => as).join(', '))}) AS one (${PASSED})`;

/** Whether an event is one of a passage, which may have several, as a condition. */
const isOfPassage = sql.raw(
  `(passage_id IS NOT NULL AND sensor_id IS NOT NULL AND event_type <> 'INCIDENT')`,
);

/**
 * The events in rows of `traffic_unfolded`, as a query with the columns at, slot (of 5 minutes), sensor_id,
 * location_id, source, those of `KIND` ('' for none), vehicle (1 for every event except an INCIDENT, else
 * 0), sign, and for vehicles with a plausible speed: speed (metres per hour), square (of the speed, in (0.01 km/h)²) and
 * bin (the speed in whole km/h, rounded up, and at least 1); event is 1. Late events from before the time since which traffic is
 * kept are left out.
 * @param rows a table, or a query with the same columns
 * @param condition on id, sensor_id, location_id, vehicle_type, speed (km/h) and sign
 * @param vehicles the vehicles of passages that may have several events (`vehiclesOf`): these, whose event is 0, are added, and the
 *   events of passages are no vehicles; by default, each event is a vehicle
 */
export function passedIn(rows: SQL, condition: SQL, vehicles: SQL | null = null): SQL {
  const isVehicle = sql`event_type <> 'INCIDENT'${vehicles ? sql` AND NOT ${isOfPassage}` : sql``}`;
  return sql`
  SELECT at, date_bin('5 minutes', at, ${ORIGIN}) AS slot, sensor_id, location_id, source, ${KIND},
    vehicle, speed, round((speed / 10::float8) ^ 2)::bigint AS square,
    CASE WHEN speed IS NOT NULL THEN greatest((speed + 999) / 1000, 1)::smallint END AS bin, sign, event
  FROM (
    SELECT event_time(id) AS at, sensor_id, location_id, source, coalesce(vehicle_type, '') AS vehicle_type,
      coalesce(vehicle_class, '') AS vehicle_class, coalesce(direction, '') AS direction, coalesce(lane, '') AS lane,
      coalesce(movement, '') AS movement, event_type, vehicle,
      CASE WHEN vehicle = 1 AND speed > 0 AND speed <= ${sql.raw(String(MAX_SPEED))}
        THEN round(speed * 1000)::bigint END AS speed, sign, event
    FROM (
      SELECT id, sensor_id, location_id, ${sourceOf} AS source, vehicle_type, vehicle_class, direction, lane, movement,
        ${unusualType} AS event_type, (${isVehicle})::int AS vehicle, speed, sign, 1 AS event
      FROM ${rows} AS source_rows, ${UNNESTED}
      ${vehicles ? sql`UNION ALL SELECT id, sensor_id, location_id, source, ${KIND}, 1, speed, sign, 0 FROM (${vehicles}) AS vehicles` : sql``}
    ) AS counted WHERE ${condition}
  ) AS passed WHERE at >= ${keptSince}`;
}

/**
 * Events of a passage are at most so far from the first one, in milliseconds: devices use short numbers again, and some name a
 * passage by its plate.
 */
const MAX_PASSAGE_MS = 15 * MINUTE_MS;
const MAX_PASSAGE = sql.raw(`interval '${MAX_PASSAGE_MS / MINUTE_MS} minutes'`);

/** A range with the times of events on which vehicles in it depend. An event matters to those within twice the length of a passage. */
function around({ from, until }: Interval, lengths: number): Interval {
  const reach = lengths * MAX_PASSAGE_MS;
  return { from: from - reach, until: until + reach };
}

/** Columns of events with collations of their own, which a union with those of `traffic_unfolded` would confuse. */
const IDS = ['id', 'sensor_id', 'location_id', 'vehicle_speed'];

/** The columns of events as `PASSED`. */
const STORED_COLUMNS = UNFOLDED.map(({ of }, n) =>
  IDS.includes(of) ? `${of} AS ${COLUMNS[n]}` : `${of} COLLATE "default" AS ${of}`,
);

const MERGED = ['vehicle_type', 'vehicle_class', 'direction', 'lane', 'movement'];

/**
 * The vehicles of events with a passage_id. An event more than 15 minutes after the one before with the same sensor and passage_id is
 * the first of another vehicle. A vehicle has what the first event says that says anything about it, and is of each of its sources, at the time of the first event
 * of that source; its `event_type` names the types of all of its events, as a detection that is also a plate must count once for who
 * counts both.
 * @param known a query of events, with the columns at, sensor_id, passage_id, source, those of `UNFOLDED` (`speed` in km/h) and
 *   sign: what has different ones is counted apart
 * @param more further columns of `known`, of which the first known value is taken
 * @returns a query with the columns id (of the first event of its source), sensor_id, location_id, source, those of `KIND`, speed, sign and more
 */
export function vehiclesOf(known: SQL, more: readonly string[] = []): SQL {
  const first = (column: string, condition: string, as = column): string =>
    `(array_agg(${column} ORDER BY at, id) FILTER (WHERE ${condition}))[1] AS ${as}`;
  const merged = [...MERGED, ...more].map((column) => first(column, `${column} IS NOT NULL`));
  const sources = [source.DETECTION, source.PLATE, source.OTHER];
  const ofSources = sources.flatMap((each) => [
    first('id', `source = ${each}`, `id_${each}`),
    first('location_id', `source = ${each}`, `location_${each}`),
  ]);
  const passage = sql.raw('PARTITION BY sign, sensor_id, passage_id ORDER BY at, id');
  return sql`
    SELECT one.id, sensor_id, one.location_id, one.source::smallint, vehicle_type, vehicle_class, direction, lane, movement,
      CASE WHEN event_types IN ('VEHICLE_DETECTION', 'PLATE_RECOGNITION') THEN '' ELSE event_types END AS event_type, speed, sign
      ${sql.raw(more.map((column) => `, ${column}`).join(''))}
    FROM (
      SELECT sign, sensor_id, passage_id, first_at, string_agg(DISTINCT event_type, '+' ORDER BY event_type) AS event_types,
        ${sql.raw([...merged, first('speed', `speed > 0 AND speed <= ${MAX_SPEED}`), ...ofSources].join(', '))}
      FROM (
        SELECT *, max(CASE WHEN previous IS NULL OR at - previous > ${MAX_PASSAGE} THEN at END) OVER (${passage}) AS first_at
        FROM (SELECT *, lag(at) OVER (${passage}) AS previous FROM (${known}) AS known) AS followed
      ) AS led WHERE at <= first_at + ${MAX_PASSAGE}
      GROUP BY sign, sensor_id, passage_id, first_at
    ) AS vehicles CROSS JOIN LATERAL (VALUES ${sql.raw(
      sources.map((each) => `(${each}, id_${each}, location_${each})`).join(', '),
    )}) AS one (source, id, location_id)
    WHERE one.id IS NOT NULL`;
}

/**
 * The events in rows of `traffic_unfolded` that are of passages, with their signs.
 * @param rows a table, or a query with the same columns
 */
function passagesIn(rows: SQL): SQL {
  return sql`
    SELECT ${PASSED}, sign FROM ${rows} AS source_rows, ${UNNESTED}
    WHERE source_rows.passage_ids IS NOT NULL AND ${isOfPassage}`;
}

/**
 * Events of passages as `vehiclesOf` needs them.
 * @param entries a query of the columns `PASSED`, before and after: an event is known before, or after, if its sum there is positive
 */
function knownIn(entries: SQL): SQL {
  const others = COLUMNS.filter((column) => !['id', 'sensor_id', 'passage_id'].includes(column));
  return sql`
    SELECT passed.*, event_time(id) AS at, ${sourceOf} AS source, state.sign
    FROM (
      SELECT id, sensor_id, passage_id, ${sql.raw(others.map((column) => `(array_agg(${column}))[1] AS ${column}`).join(', '))},
        sum(before) AS before, sum(after) AS after
      FROM (${entries}) AS entries GROUP BY id, sensor_id, passage_id
    ) AS passed CROSS JOIN (VALUES (-1::smallint), (1::smallint)) AS state (sign)
    WHERE CASE WHEN state.sign = 1 THEN after ELSE before END > 0`;
}

/**
 * What changes in the vehicles of passages when events are counted: the vehicles without them have the sign −1, those with them 1.
 * @param changed rows of `traffic_unfolded` that are counted
 * @param waiting all rows of it, or those that may concern the same passages. The stored events without these are the ones that are
 *   counted so far
 */
export function changedVehicles(changed: SQL, waiting = sql`traffic_unfolded`): SQL {
  // Plan: events_by_passage for each passage; events_by_sensor in partitions that do not have it yet.
  return sql`
    WITH changed AS MATERIALIZED (${passagesIn(changed)}), keys AS MATERIALIZED (
      SELECT DISTINCT sensor_id, passage_id, date_bin(${MAX_PASSAGE}, event_time(id), ${ORIGIN}) AS at FROM changed
    )
    SELECT id, sensor_id, location_id, source, ${KIND}, speed, sum(sign)::smallint AS sign
    FROM (${vehiclesOf(
      knownIn(sql`
        ${storedIn(sql`keys`)}
        UNION ALL
        SELECT ${PASSED}, -sign, -sign FROM (${passagesIn(waiting)}) AS waiting
        WHERE (sensor_id, passage_id) IN (SELECT sensor_id, passage_id FROM keys)
        UNION ALL
        SELECT ${PASSED}, 0, sign FROM changed`),
    )}) AS vehicles GROUP BY id, sensor_id, location_id, source, ${KIND}, speed HAVING sum(sign) <> 0`;
}

/** The stored events of passages around a time, as entries of `knownIn`. @param keys a table of sensor_id, passage_id and at */
function storedIn(keys: SQL): SQL {
  const stored = UNFOLDED.map(({ of }, n) =>
    of === 'sensor_id' || of === 'passage_id' ? `keys.${of}` : `stored.${of} AS ${COLUMNS[n]}`,
  );
  return sql`
        SELECT DISTINCT ${sql.raw(stored.join(', '))}, 1 AS before, 1 AS after
        FROM ${keys} AS keys CROSS JOIN LATERAL passage_events(keys.sensor_id, keys.passage_id, keys.at - 2 * ${MAX_PASSAGE},
          keys.at + 3 * ${MAX_PASSAGE}) AS stored
        WHERE stored.event_type <> 'INCIDENT'`;
}

/**
 * The vehicles of passages within a time, all of which are counted again.
 * @param waiting rows of `traffic_unfolded` with events that are not counted now
 */
export function recountedVehicles(time: Interval, waiting: SQL): SQL {
  return sql`
    SELECT id, sensor_id, location_id, source, ${KIND}, speed, sign
    FROM (${vehiclesOf(
      knownIn(sql`
        SELECT ${sql.raw(STORED_COLUMNS.join(', '))}, 0 AS before, 1 AS after FROM events
        WHERE ${isOfPassage} AND ${passedWithin(around(time, 2))}
        UNION ALL
        SELECT ${PASSED}, 0, -sign FROM (${passagesIn(waiting)}) AS waiting`),
    )}) AS vehicles WHERE ${passedWithin(time)}`;
}

/** All vehicles of passages in rows of `traffic_unfolded`, by the events whose signs add up to more than 0. */
export function netVehicles(rows: SQL): SQL {
  return vehiclesOf(
    knownIn(sql`SELECT ${PASSED}, 0 AS before, sign AS after FROM (${passagesIn(rows)}) AS passed`),
  );
}

/**
 * The vehicles that sensors reported within a range, as far as their events are stored: of passages, `vehiclesOf`, and every other event
 * except an INCIDENT. The columns are id, at, sensor_id, location_id, source, those of `KIND` (null for none), speed (km/h; it may be implausible) and more.
 * @param condition on columns of events: which sensors, and where
 * @param more further columns of events
 */
export function storedVehicles(condition: SQL, range: Interval, more: readonly string[]): SQL {
  const others = sql.raw(more.map((column) => `, ${column}`).join(''));
  const stored = (which: SQL, within: Interval): SQL => sql`
    SELECT event_time(id) AS at, ${sourceOf} AS source, ${sql.raw(STORED_COLUMNS.join(', '))}${others}
    FROM events WHERE ${condition} AND ${which} AND ${passedWithin(within)}`;
  // Plan: events_by_sensor, and events_by_passage for the few that have one.
  return sql`
    SELECT id, at, sensor_id, location_id, source, vehicle_type, vehicle_class, direction, lane, movement,
      ${unusualType} AS event_type, speed${others}
    FROM (${stored(sql`event_type <> 'INCIDENT' AND NOT ${isOfPassage}`, range)}) AS single
    UNION ALL
    SELECT id, event_time(id), sensor_id, location_id, source, ${KIND}, speed${others}
    FROM (${vehiclesOf(sql`SELECT 1 AS sign, stored.* FROM (${stored(isOfPassage, around(range, 2))}) AS stored`, more)}) AS vehicles
    WHERE ${passedWithin(range)}`;
}

/** Whether events of passages that concern a range are not rolled up, as an expression. */
export function isPassageWaiting(range: Interval): SQL {
  return sql`EXISTS (SELECT FROM ${groupsWithin(around(range, 2))} AS groups WHERE passage_ids IS NOT NULL)`;
}

/**
 * What is not rolled up of a range, as `passedIn` with the vehicles of passages.
 * @param here a condition on sensor_id and location_id
 * @param condition as for `passedIn`
 * @param hasPassages false if no passage is waiting (`isPassageWaiting`): PostgreSQL takes 10 ms to plan what these need
 */
export function waitingIn(
  range: Interval,
  here: SQL,
  condition: SQL = passedWithin(range),
  hasPassages = true,
): SQL {
  const groups = groupsWithin(around(range, 2));
  const changed = sql`(
    SELECT * FROM ${groups} AS groups WHERE passage_ids IS NOT NULL AND EXISTS (
      SELECT FROM unnest(sensor_ids, location_ids, passage_ids) AS one (sensor_id, location_id, passage_id)
      WHERE passage_id IS NOT NULL AND ${here}
    )
  )`;
  const vehicles = hasPassages ? changedVehicles(changed, groupsWithin(around(range, 4))) : null;
  return passedIn(groupsWithin(range), sql`${here} AND ${condition}`, vehicles);
}
