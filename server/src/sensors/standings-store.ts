import { sql } from 'drizzle-orm';
import { historyTable } from '../platform/database/history-table.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { always, type History } from '../platform/history.ts';
import { type Standing, standingsOf } from './standings.ts';

/** The locations of sensors over time; null for none. */
export const sensorPlaces = historyTable<string>({
  table: 'sensor_places',
  id: 'sensor_id',
  value: 'location_id',
  type: 'uuid',
});

/** The speed limits (km/h) over time of locations whose limit has changed; null for none. */
export const locationLimits = historyTable<number>({
  table: 'location_limits',
  id: 'location_id',
  value: 'speed_limit',
  type: 'double precision',
});

/**
 * The locations of a sensor over time, with the limit at each time.
 * @param present its location now
 */
export async function readStandings(
  db: Executor,
  sensorId: string,
  present: string | null,
): Promise<History<Standing>> {
  const places = (await sensorPlaces.read(db, [sensorId])).get(sensorId) ?? always(present);
  const ids = [...new Set(places.flatMap(({ value }) => value ?? []))];
  const { rows } = await db.execute<{ id: string; name: string; speed_limit: number | null }>(
    sql`SELECT id, name, speed_limit FROM locations WHERE id = ANY (${sql.param(ids)}::uuid[])`,
  );
  return standingsOf(places, {
    present: new Map(rows.map((row) => [row.id, { name: row.name, speedLimit: row.speed_limit }])),
    limits: await locationLimits.read(db, ids),
  });
}
