import { type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { inSegments, passedIn, passedWithin } from '../traffic/rollups-store.ts';
import { segmentsOf } from '../traffic/segments.ts';

const TOP = 10;

/** The places with most events within a range. Plan: the unique index of traffic_rollups, for each place. */
const topPlaces = async (db: Executor, range: Interval, places: SQL, column: SQL) => {
  const segments = segmentsOf(range);
  const whole = { from: segments[0]?.from ?? range.from, until: segments.at(-1)?.until ?? range.until };
  const folded = inSegments(segments, sql`place_id = places.id AND vehicle_type IS NULL`).map(
    (condition) => sql`SELECT places.id, events FROM places JOIN traffic_rollups ON ${condition}`,
  );
  const { rows } = await db.execute<{ id: string; count: number }>(sql`
    WITH places AS (${places}), counted AS (
      ${sql.join(folded, sql` UNION ALL `)}
      UNION ALL
      SELECT ${column}, sign FROM (${passedIn(sql`traffic_unfolded`, passedWithin(whole))}) AS fresh
      WHERE ${column} IS NOT NULL
    )
    SELECT id, sum(events)::bigint AS count FROM counted GROUP BY 1 HAVING sum(events) > 0
    ORDER BY 2 DESC, 1 DESC LIMIT ${TOP}`);
  return rows;
};

/** The sensors that saw most, also those that are gone, with the name that they had last. */
export const listTopSensors = async (db: Executor, range: Interval) => {
  const known = sql`SELECT id FROM sensors UNION SELECT sensor_id FROM traffic_places`;
  const top = await topPlaces(db, range, known, sql`sensor_id`);
  const ids = sql`${sql.param(top.map(({ id }) => id))}::uuid[]`;
  const { rows } = await db.execute<{ id: string; name: string }>(
    sql`SELECT id, name FROM sensors WHERE id = ANY (${ids})`,
  );
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  for (const { id } of top) {
    if (names.has(id)) continue;
    // Plan: events_by_sensor from its end.
    const { rows: last } = await db.execute<{ name: string | null }>(
      sql`SELECT sensor_name AS name FROM events WHERE sensor_id = ${id}::uuid ORDER BY id DESC LIMIT 1`,
    );
    if (last[0]?.name) names.set(id, last[0].name);
  }
  return top.map(({ id, count }) => ({ sensorId: id, sensorName: names.get(id) ?? null, count }));
};

/** The locations at which most was seen, of those that there are. */
export const listTopLocations = async (db: Executor, range: Interval) => {
  const known = sql`SELECT id FROM locations`;
  const top = await topPlaces(db, range, known, sql`location_id`);
  const ids = sql`${sql.param(top.map(({ id }) => id))}::uuid[]`;
  const { rows } = await db.execute<{ id: string; name: string }>(
    sql`SELECT id, name FROM locations WHERE id = ANY (${ids})`,
  );
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return top.flatMap(({ id, count }) => {
    const locationName = names.get(id);
    return locationName === undefined ? [] : [{ locationId: id, locationName, count }];
  });
};
