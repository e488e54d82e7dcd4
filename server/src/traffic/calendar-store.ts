import type { CalendarDay, CalendarDayInput, ListCalendarInput } from '@gantry/contract/calendars';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { type SQL, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../platform/database/transaction.ts';

const DAY = sql.raw(`id::text AS id, date::text AS date, kind, name, location_id AS "locationId"`);
type DayRow = CalendarDay & Record<string, unknown>;

/**
 * Stores days of the calendar. The same day, kind and location again has its name replaced.
 * @returns them, in their order
 */
export async function putDays(tx: Transaction, days: readonly CalendarDayInput[]): Promise<CalendarDay[]> {
  const param = (of: (day: CalendarDayInput) => string | null): SQL => sql`${sql.param(days.map(of))}`;
  const { rows } = await tx.execute<DayRow>(sql`
    WITH given AS (
      SELECT * FROM unnest(${param(({ date }) => date)}::date[], ${param(({ kind }) => kind)}::text[],
        ${param(({ name }) => name)}::text[], ${param(({ locationId }) => locationId)}::uuid[])
        WITH ORDINALITY AS one (date, kind, name, location_id, n)
    ), put AS (
      INSERT INTO calendar_days (date, kind, name, location_id)
      SELECT DISTINCT ON (date, kind, location_id) date, kind, name, location_id FROM given
      ORDER BY date, kind, location_id, n DESC
      ON CONFLICT (date, kind, location_id) DO UPDATE SET name = excluded.name
      RETURNING *
    )
    SELECT put.id::text AS id, put.date::text AS date, put.kind, put.name, put.location_id AS "locationId"
    FROM given JOIN put ON (put.date, put.kind) = (given.date, given.kind)
      AND put.location_id IS NOT DISTINCT FROM given.location_id
    ORDER BY n`);
  return rows;
}

/** The ids of locations that do not exist. */
export async function findUnknownLocations(db: Executor, ids: readonly string[]): Promise<string[]> {
  const known = new Set<string>();
  const { rows } = await db.execute<{ id: string }>(
    sql`SELECT id FROM locations WHERE id = ANY (${sql.param(ids.filter(isUuid))}::uuid[])`,
  );
  for (const { id } of rows) known.add(id);
  return ids.filter((id) => !known.has(id.toLowerCase()));
}

/** One page of the calendar, in the order of the days. */
export async function listDays(
  db: Executor,
  { startDate, endDate, kind, locationId, skip, take }: ListCalendarInput,
): Promise<Page<CalendarDay>> {
  const conditions = [
    sql`true`,
    ...(startDate === undefined ? [] : [sql`date >= ${startDate}::date`]),
    ...(endDate === undefined ? [] : [sql`date <= ${endDate}::date`]),
    ...(kind === undefined ? [] : [sql`kind = ${kind}`]),
    ...(locationId === undefined ? [] : [concerns(locationId)]),
  ];
  const wanted = sql.join(conditions, sql` AND `);
  const { rows } = await db.execute<DayRow>(sql`
    SELECT ${DAY} FROM calendar_days WHERE ${wanted}
    ORDER BY calendar_days.date, kind, location_id NULLS FIRST LIMIT ${take} OFFSET ${skip}`);
  const counted = await db.execute<{ total: number }>(
    sql`SELECT count(*)::int AS total FROM calendar_days WHERE ${wanted}`,
  );
  return { items: rows, total: counted.rows[0]?.total ?? 0 };
}

function concerns(locationId: string | null): SQL {
  return locationId !== null && isUuid(locationId)
    ? sql`(location_id IS NULL OR location_id = ${locationId}::uuid)`
    : sql`location_id IS NULL`;
}

/**
 * The days that concern a location, from the first to the last (YYYY-MM-DD).
 * @param locationId null for none: only the days of all locations
 */
export async function readDays(
  db: Executor,
  locationId: string | null,
  first: string,
  last: string,
): Promise<CalendarDay[]> {
  const { rows } = await db.execute<DayRow>(sql`
    SELECT ${DAY} FROM calendar_days
    WHERE ${concerns(locationId)} AND date BETWEEN ${first}::date AND ${last}::date
    ORDER BY calendar_days.date, kind, location_id NULLS FIRST`);
  return rows;
}

/** Deletes days. @returns those that were there */
export async function deleteDays(tx: Transaction, ids: readonly string[]): Promise<CalendarDay[]> {
  const { rows } = await tx.execute<DayRow>(
    sql`DELETE FROM calendar_days WHERE id = ANY (${sql.param(ids.filter(isUuid))}::uuid[]) RETURNING ${DAY}`,
  );
  return rows;
}
