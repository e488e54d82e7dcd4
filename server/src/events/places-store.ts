import type { EventFilter } from '@gantry/contract/events';
import { type SQL, sql } from 'drizzle-orm';
import { caseFolded } from '../platform/database/case-folded.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Limits, Places } from './place-and-time.ts';

// What filters of events say about sensors and locations, as it is known now: events carry only their ids.

/** Finds the sensors and locations that a filter refers to. */
export async function findPlaces(db: Executor, filter: EventFilter): Promise<Places> {
  const { sensorTags, road, minExcess } = filter;
  return {
    sensorIds: sensorTags === undefined ? null : await findTagged(db, sensorTags),
    locationIds: road === undefined ? null : await findOnRoad(db, { ...filter, road }),
    limits: minExcess === undefined ? null : await findSpeedLimits(db),
  };
}

/**
 * The speed limits of locations over time, even if they were deleted since.
 * @param locationIds by default all
 */
export async function findSpeedLimits(db: Executor, locationIds?: readonly string[]): Promise<Limits> {
  if (locationIds?.length === 0) return new Map();
  const wanted = (id: SQL): SQL =>
    locationIds === undefined ? sql`true` : sql`${id} = ANY (${sql.param(locationIds)}::uuid[])`;
  const { rows } = await db.execute<{ id: string; since: number | null; value: number | null }>(sql`
    SELECT location_id AS id, extract(epoch FROM nullif(since, '-infinity'))::float8 * 1000 AS since, speed_limit AS value
    FROM location_limits WHERE ${wanted(sql`location_id`)}
    UNION ALL SELECT id, NULL, speed_limit FROM locations
    WHERE ${wanted(sql`id`)} AND NOT EXISTS (SELECT FROM location_limits WHERE location_id = locations.id)
    ORDER BY 1, 2 NULLS FIRST`);
  const limits = new Map<string, { since: number; value: number | null }[]>();
  for (const { id, since, value } of rows) {
    const change = { since: since ?? Number.NEGATIVE_INFINITY, value };
    const known = limits.get(id);
    if (known) known.push(change);
    else limits.set(id, [change]);
  }
  return limits;
}

async function findTagged(db: Executor, tags: readonly string[]): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT id FROM sensors WHERE EXISTS (
      SELECT FROM unnest(tags) AS given (tag) WHERE ${caseFolded(sql`tag`)} = ANY (${sql.param(tags)}::text[])
    )`);
  return rows.map(({ id }) => id);
}

async function findOnRoad(
  db: Executor,
  { road, fromKilometre, toKilometre }: EventFilter & { readonly road: string },
): Promise<string[]> {
  const conditions = [
    sql`${caseFolded(sql`road`)} = ${caseFolded(road)}`,
    ...(fromKilometre === undefined ? [] : [sql`kilometre >= ${fromKilometre}::numeric`]),
    ...(toKilometre === undefined ? [] : [sql`kilometre <= ${toKilometre}::numeric`]),
  ];
  const { rows } = await db.execute<{ id: string }>(
    sql`SELECT id FROM locations WHERE ${sql.join(conditions, sql` AND `)}`,
  );
  return rows.map(({ id }) => id);
}
