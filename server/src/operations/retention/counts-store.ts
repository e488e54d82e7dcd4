import type { EventType } from '@gantry/contract/events';
import { EARLIEST_EVENT } from '@gantry/contract/time-bounds';
import { type SQL, sql } from 'drizzle-orm';
import { countedByPeriod, countedEvents } from '../../events/counts/totals.ts';
import { heldEvents } from '../../events/holds-store.ts';
import { firstIdAt, timeOfId } from '../../events/id.ts';
import { MAY_BE_ORPHAN } from '../../images/orphans-store.ts';
import { isStopped } from '../../platform/database/failure.ts';
import { moment } from '../../platform/database/moment.ts';
import { readDatabaseBytes } from '../../platform/database/nodes.ts';
import type { Database } from '../../platform/database/pool.ts';
import { type Executor, inTransaction } from '../../platform/database/transaction.ts';
import type { Cutoffs } from './cutoffs.ts';

/** Maximum time for counting images. Statements are cancelled after 5 s, and the other figures are to be shown all the same. */
const COUNT_IMAGES_MS = 3_000;

/** A number of records of one kind in a month. */
export interface MonthCount {
  /** `YYYY-MM` in UTC. */
  readonly month: string;
  readonly eventType: EventType | null;
  readonly rows: number;
  readonly bytes: number;
}

type CountRow = MonthCount & Record<string, unknown>;

/** Counts the events of these types before a time, by month and type, from the totals. */
export async function countEventsBefore(
  db: Executor,
  types: readonly EventType[],
  cutoff: number,
): Promise<MonthCount[]> {
  if (cutoff <= EARLIEST_EVENT) return [];
  const { rows } = await db.execute<CountRow>(sql`
    SELECT ${monthOf(sql`at`)} AS month, event_type AS "eventType", sum(n)::bigint AS rows, 0 AS bytes
    FROM ${countedByPeriod('month', { from: EARLIEST_EVENT, until: cutoff })}
    WHERE event_type = ANY (${sql.param([...types])}::text[]) GROUP BY 1, 2 HAVING sum(n) <> 0`);
  return rows;
}

/** Counts the due events under a hold, by month and type. */
export async function countHeldDue(db: Executor, due: Cutoffs): Promise<MonthCount[]> {
  const { rows } = await db.execute<CountRow>(sql`
    SELECT ${monthOf(sql`event_time(event_id)`)} AS month, event_type AS "eventType",
      count(DISTINCT event_id) AS rows, 0 AS bytes
    FROM ${heldEvents} WHERE ${eventIsDue(due)} GROUP BY 1, 2`);
  return rows;
}

/** The months with events under a hold. */
export async function listHeldMonths(db: Executor): Promise<ReadonlySet<string>> {
  const { rows } = await db.execute<{ month: string }>(
    sql`SELECT DISTINCT ${monthOf(sql`event_time(event_id)`)} AS month FROM ${heldEvents}`,
  );
  return new Set(rows.map(({ month }) => month));
}

/**
 * Counts the images that no event will refer to after the removals, and neither a note nor a message does, by the month in
 * which they were last received.
 * @returns null when they are too many to be counted in time
 */
export async function countImagesDue(db: Database, due: Cutoffs): Promise<MonthCount[] | null> {
  try {
    return await inTransaction(db, async (tx) => {
      await tx.execute(sql`SET LOCAL statement_timeout = ${sql.raw(String(COUNT_IMAGES_MS))}`);
      return countImagesIn(tx, due);
    });
  } catch (error) {
    if (isStopped(error)) return null;
    throw error;
  }
}

async function countImagesIn(tx: Executor, due: Cutoffs): Promise<MonthCount[]> {
  // Plan: both tables as a whole. With 1.5 million images: 1.6 s with parallel workers, 4.4 s without.
  const tooOld = due.images === null ? sql`false` : sql`event_id < ${firstIdAt(due.images)}::uuid`;
  const { rows } = await tx.execute<CountRow>(sql`
    SELECT ${monthOf(sql`touched_at`)} AS month, NULL AS "eventType", count(*) AS rows,
      sum(bytes)::bigint AS bytes
    FROM images WHERE ${MAY_BE_ORPHAN} AND NOT EXISTS (
      SELECT FROM event_images WHERE event_images.sha256 = images.sha256 AND NOT (
        (${tooOld} OR ${eventIsDue(due)})
        AND event_id NOT IN (SELECT held.event_id FROM ${heldEvents})
      )
    ) GROUP BY 1`);
  return rows;
}

/** The tables of other records: the time by which they are counted, whether they are due at a cutoff, and their size. */
const records = {
  reports: {
    table: sql`reports`,
    time: sql`created_at`,
    isDue: (cutoff: SQL) => sql`finished_at < ${cutoff}`,
    bytes: sql`coalesce(sum(size), 0)::bigint`,
  },
  // Days of sensors. Plan: the unique index of traffic_bins.
  traffic: {
    table: sql`(SELECT DISTINCT sensor_id, slot FROM traffic_bins WHERE minutes = 1440) AS days`,
    time: sql`slot`,
    isDue: (cutoff: SQL) => sql`slot < ${cutoff}`,
    bytes: sql`0`,
  },
  log: {
    table: sql`(
      SELECT created_at AS at FROM log_entries UNION ALL SELECT ended_at FROM shifts WHERE ended_at IS NOT NULL
    ) AS logged`,
    time: sql`at`,
    isDue: (cutoff: SQL) => sql`at < ${cutoff}`,
    bytes: sql`0`,
  },
  activity: {
    table: sql`activity`,
    time: sql`at`,
    isDue: (cutoff: SQL) => sql`at < ${cutoff}`,
    bytes: sql`0`,
  },
} as const;

/** Counts the records that are due at a cutoff, by month; none if there is no cutoff. */
export async function countRecordsDue(
  db: Executor,
  kind: keyof typeof records,
  cutoff: number | null,
): Promise<MonthCount[]> {
  if (cutoff === null) return [];
  const { table, time, isDue, bytes } = records[kind];
  const { rows } = await db.execute<CountRow>(sql`
    SELECT ${monthOf(time)} AS month, NULL AS "eventType", count(*) AS rows, ${bytes} AS bytes
    FROM ${table} WHERE ${isDue(moment(cutoff))} GROUP BY 1`);
  return rows;
}

function monthOf(moment: SQL): SQL {
  return sql`to_char(${moment} AT TIME ZONE 'UTC', 'YYYY-MM')`;
}

/** A condition on the columns event_id and event_type for events that are due. */
function eventIsDue({ events }: Cutoffs): SQL {
  const parts = [...events].map(
    ([type, cutoff]) => sql`(event_type = ${type} AND event_id < ${firstIdAt(cutoff)}::uuid)`,
  );
  return parts.length === 0 ? sql`false` : sql`(${sql.join(parts, sql` OR `)})`;
}

const EVER = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

interface StatsRow extends Record<string, unknown> {
  event_count: number;
  oldest: string | null;
  newest: string | null;
  image_count: number;
  image_bytes: number;
}

/** Totals of the stored data. */
interface StoredTotals {
  readonly databaseBytes: number;
  readonly eventCount: number;
  readonly oldestEvent: Date | null;
  readonly newestEvent: Date | null;
  readonly images: { readonly count: number; readonly bytes: number };
}

/**
 * The totals from the counts and the ends of the events' primary key. Images are counted row by row.
 * @throws AppError `unavailable` when a node of the database does not answer
 */
export async function readStoredTotals(db: Executor): Promise<StoredTotals> {
  const { rows } = await db.execute<StatsRow>(sql`
    SELECT (SELECT coalesce(sum(n), 0)::bigint FROM ${countedEvents(EVER)}) AS event_count,
      (SELECT id FROM events ORDER BY id LIMIT 1) AS oldest,
      (SELECT id FROM events ORDER BY id DESC LIMIT 1) AS newest,
      count(*) AS image_count, coalesce(sum(bytes), 0)::bigint AS image_bytes
    FROM images WHERE stored_at IS NOT NULL`);
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL did not return the storage statistics');
  return {
    databaseBytes: await readDatabaseBytes(db),
    eventCount: row.event_count,
    oldestEvent: timeOf(row.oldest),
    newestEvent: timeOf(row.newest),
    images: { count: row.image_count, bytes: row.image_bytes },
  };
}

function timeOf(id: string | null): Date | null {
  return id === null ? null : new Date(timeOfId(id));
}
