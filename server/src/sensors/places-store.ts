import { sql } from 'drizzle-orm';
import { readLimits } from '../locations/limits-store.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { always, type History } from '../platform/history.ts';
import { type Standing, standingsOf } from './standings.ts';

/**
 * Writes down that a sensor moved, in the transaction that moves it. The first location that is said of a sensor is taken
 * for the one at which it always stood.
 */
export const recordMove = async (
  tx: Executor,
  sensorId: string,
  from: string | null,
  to: string | null,
): Promise<void> => {
  if (from === to) return;
  const { rows } = await tx.execute(
    sql`SELECT FROM sensor_places WHERE sensor_id = ${sensorId}::uuid LIMIT 1`,
  );
  if (rows.length === 0 && from === null) return;
  await tx.execute(sql`
    INSERT INTO sensor_places (sensor_id, since, location_id)
    SELECT ${sensorId}::uuid, '-infinity', ${from}::uuid
    ON CONFLICT DO NOTHING`);
  await tx.execute(sql`
    INSERT INTO sensor_places (sensor_id, since, location_id)
    SELECT ${sensorId}::uuid, greatest(clock_timestamp(), max(since)), ${to}::uuid
    FROM sensor_places WHERE sensor_id = ${sensorId}::uuid
    ON CONFLICT (sensor_id, since) DO UPDATE SET location_id = excluded.location_id`);
};

/** Forgets where a sensor stood that is removed. */
export const forgetMoves = async (tx: Executor, sensorId: string): Promise<void> => {
  await tx.execute(sql`DELETE FROM sensor_places WHERE sensor_id = ${sensorId}::uuid`);
};

const readPlaces = async (
  db: Executor,
  sensorId: string,
  present: string | null,
): Promise<History<string | null>> => {
  const { rows } = await db.execute<{ since: number | null; location_id: string | null }>(sql`
    SELECT extract(epoch FROM nullif(since, '-infinity'))::float8 * 1000 AS since, location_id
    FROM sensor_places WHERE sensor_id = ${sensorId}::uuid ORDER BY sensor_places.since`);
  if (rows.length === 0) return always(present);
  return rows.map((row) => ({ since: row.since ?? Number.NEGATIVE_INFINITY, value: row.location_id }));
};

/** Where a sensor stood one time after another, with the limit that held there. @param present where it stands now */
export const readStandings = async (
  db: Executor,
  sensorId: string,
  present: string | null,
): Promise<History<Standing>> => {
  const places = await readPlaces(db, sensorId, present);
  const ids = [...new Set(places.flatMap(({ value }) => value ?? []))];
  const { rows } = await db.execute<{ id: string; name: string; speed_limit: number | null }>(
    sql`SELECT id, name, speed_limit FROM locations WHERE id = ANY (${sql.param(ids)}::uuid[])`,
  );
  return standingsOf(places, {
    present: new Map(rows.map((row) => [row.id, { name: row.name, speedLimit: row.speed_limit }])),
    limits: await readLimits(db, ids),
  });
};
