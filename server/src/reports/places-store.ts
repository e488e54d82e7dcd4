import { DAY_MS } from '@gantry/contract/durations';
import { isUuid } from '@gantry/contract/id';
import type { ReportFilters } from '@gantry/contract/reports';
import type { SpeedUnits } from '@gantry/contract/values';
import { type SQL, sql } from 'drizzle-orm';
import { firstIdAt } from '../events/id.ts';
import { sortedName } from '../platform/database/case-folded.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { type Interval, SLOT_MS } from '../platform/time.ts';
import { groupsWithin, passedIn, passedWithin } from '../traffic/passed-store.ts';

/**
 * The names of sensors and locations by id (in lower case), including the name that a deleted one had in the last of its
 * events. Deleted ones without events have none.
 */
export async function findPlaceNames(
  db: Executor,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const wanted = sql`${sql.param(ids)}::uuid[]`;
  const { rows } = await db.execute<{ id: string; name: string }>(sql`
    SELECT id, name FROM sensors WHERE id = ANY(${wanted})
    UNION ALL SELECT id, name FROM locations WHERE id = ANY(${wanted})`);
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  for (const id of ids) {
    if (names.has(id)) continue;
    const last = (await lastNameOfSensor(db, id)) ?? (await lastNameOfLocation(db, id));
    if (last !== null) names.set(id, last);
  }
  return names;
}

async function lastNameOfSensor(db: Executor, id: string): Promise<string | null> {
  // Plan: events_by_sensor from its end.
  const { rows } = await db.execute<{ name: string | null }>(
    sql`SELECT sensor_name AS name FROM events WHERE sensor_id = ${id}::uuid ORDER BY id DESC LIMIT 1`,
  );
  return rows[0]?.name ?? null;
}

async function lastNameOfLocation(db: Executor, id: string): Promise<string | null> {
  const { rows } = await db.execute<{ sensor_id: string; first: string; last: string }>(sql`
    SELECT sensor_id, first_slot AS first, last_slot AS last FROM traffic_places
    WHERE location_id = ${id}::uuid ORDER BY last_slot DESC LIMIT 1`);
  const [seen] = rows;
  if (!seen) return null;
  // Plan: events_by_sensor from the end of the time in which the sensor stood there.
  const { rows: events } = await db.execute<{ name: string | null }>(sql`
    SELECT location_name AS name FROM events
    WHERE sensor_id = ${seen.sensor_id}::uuid AND location_id = ${id}::uuid
      AND id >= ${firstIdAt(Date.parse(seen.first))}::uuid AND id < ${firstIdAt(Date.parse(seen.last) + SLOT_MS)}::uuid
    ORDER BY id DESC LIMIT 1`);
  return events[0]?.name ?? null;
}

/** A place with traffic: a location, or a sensor that stands or has stood at none. */
export interface TrafficPlace {
  readonly kind: 'location' | 'sensor';
  readonly id: string;
  readonly name: string;
  /** Those that are entered for it; null for none. */
  readonly units: SpeedUnits | null;
}

/** Whether a sensor stood at no location that still exists, at any time before it was moved to its present one. */
const hasStoodNowhere = sql`EXISTS (
  SELECT FROM sensor_places WHERE sensor_id = sensors.id
    AND NOT EXISTS (SELECT FROM locations WHERE locations.id = sensor_places.location_id)
)`;

/** Sensors without any contact have no data, and there may be thousands that are not mounted yet. */
const hasBeenHeardOf = sql`(
  EXISTS (SELECT FROM sensor_status_history WHERE sensor_id = sensors.id AND to_status = 'ONLINE')
  OR EXISTS (SELECT FROM traffic_places WHERE traffic_places.sensor_id = sensors.id)
  OR id IN (SELECT unnest(sensor_ids) FROM traffic_unfolded)
)`;

/**
 * The places that match the filters and have traffic within an interval, or may have, in the order of their names. They
 * include deleted sensors, with the name that each had last.
 */
export async function listTrafficPlaces(
  db: Executor,
  filters: ReportFilters,
  interval: Interval,
): Promise<TrafficPlace[]> {
  const { locations, sensors } = wanted(filters);
  const deleted = await listDeletedSensors(db, filters, interval);
  const ids = deleted.map(({ id }) => id);
  const names = deleted.map(({ name }) => name);
  const { rows } = await db.execute<TrafficPlace & Record<string, unknown>>(sql`
    SELECT kind, id, name, units FROM (
      SELECT 'location' AS kind, id, name, speed_units AS units FROM locations WHERE ${locations}
      UNION ALL SELECT 'sensor', id, name, (SELECT speed_units FROM locations WHERE locations.id = sensors.location_id)
        FROM sensors WHERE ${sensors}
      UNION ALL SELECT 'sensor', id, name, NULL
        FROM unnest(${sql.param(ids)}::uuid[], ${sql.param(names)}::text[]) AS deleted (id, name)
    ) AS places ORDER BY ${sortedName(sql`name`)}, id`);
  return rows;
}

async function listDeletedSensors(
  db: Executor,
  { sensorId, locationId }: ReportFilters,
  { from, until }: Interval,
): Promise<{ id: string; name: string }[]> {
  // What a sensor saw at a location is part of the traffic of that location, as long as the location exists.
  const places =
    sensorId === undefined && locationId === undefined
      ? [sql`NOT EXISTS (SELECT FROM locations WHERE locations.id = seen.location_id)`]
      : [
          sensorId === undefined ? sql`false` : equals(sql`sensor_id`, sensorId),
          ...(locationId === undefined ? [] : [equals(sql`location_id`, locationId)]),
        ];
  // A day longer at both ends, because figures by day include all of a day.
  const range = { from: from - DAY_MS, until: until + DAY_MS };
  const fresh = passedIn(
    groupsWithin(range),
    sql`sign > 0 AND sensor_id IS NOT NULL AND ${passedWithin(range)}`,
  );
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT DISTINCT sensor_id AS id FROM (
      SELECT location_id, sensor_id FROM traffic_places
      WHERE last_slot >= ${moment(range.from)} AND first_slot < ${moment(range.until)}
      UNION ALL SELECT coalesce(location_id, sensor_id), sensor_id FROM (${fresh}) AS fresh
    ) AS seen WHERE ${sql.join(places, sql` AND `)} AND NOT EXISTS (SELECT FROM sensors WHERE sensors.id = sensor_id)`);
  const names = await findPlaceNames(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map(({ id }) => ({ id, name: names.get(id) ?? id }));
}

function equals(column: SQL, value: string): SQL {
  return isUuid(value) ? sql`${column} = ${value}::uuid` : sql`false`;
}

function wanted({ sensorId, locationId }: ReportFilters): { locations: SQL; sensors: SQL } {
  if (sensorId !== undefined && locationId !== undefined) {
    const stood = sql`(${equals(sql`location_id`, locationId)} OR EXISTS (
      SELECT FROM sensor_places
      WHERE sensor_id = sensors.id AND ${equals(sql`sensor_places.location_id`, locationId)}))`;
    return { locations: sql`false`, sensors: sql`${equals(sql`id`, sensorId)} AND ${stood}` };
  }
  if (sensorId !== undefined) return { locations: sql`false`, sensors: equals(sql`id`, sensorId) };
  if (locationId !== undefined) return { locations: equals(sql`id`, locationId), sensors: sql`false` };
  return {
    locations: sql`true`,
    sensors: sql`(location_id IS NULL OR ${hasStoodNowhere}) AND ${hasBeenHeardOf}`,
  };
}
