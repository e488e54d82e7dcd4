import type { EventType } from '@gantry/contract/events';
import { EARLIEST_EVENT } from '@gantry/contract/time-bounds';
import { type SQL, sql } from 'drizzle-orm';
import { ENTRIES_UNDER_AUDIT } from '../../audit/store.ts';
import { countedByPeriod, countedEvents } from '../../events/counts/totals.ts';
import { heldEvents } from '../../events/holds-store.ts';
import { firstIdAt, timeOfId } from '../../events/id.ts';
import { MAY_BE_ORPHAN } from '../../images/orphans-store.ts';
import { isStopped } from '../../platform/database/failure.ts';
import { moment } from '../../platform/database/moment.ts';
import { readDatabaseBytes } from '../../platform/database/nodes.ts';
import type { Database } from '../../platform/database/pool.ts';
import { type Executor, inTransaction } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { ORIGIN } from '../../traffic/passed-store.ts';
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

/** Counts the events of a type within an interval that are no violations, by month, from the totals. */
export async function countPlainEvents(
  db: Executor,
  type: EventType,
  interval: Interval,
): Promise<MonthCount[]> {
  const { rows } = await db.execute<CountRow>(sql`
    SELECT ${monthOf(sql`at`)} AS month, event_type AS "eventType", sum(n)::bigint AS rows, 0 AS bytes
    FROM ${countedByPeriod('month', interval)}
    WHERE event_type = ${type} AND violation_type = '' GROUP BY 1, 2 HAVING sum(n) <> 0`);
  return rows;
}

/** Counts those of them that are of use, see `isOfNoUse`, or under a hold, by month. */
export async function countUsed(db: Executor, type: EventType, interval: Interval): Promise<MonthCount[]> {
  const [from, until] = [firstIdAt(interval.from), firstIdAt(interval.until)];
  // Plan: the other tables as a whole, which are small, and events_pkey for what they name.
  const { rows } = await db.execute<CountRow>(sql`
    SELECT ${monthOf(sql`event_time(id)`)} AS month, event_type AS "eventType", count(*) AS rows, 0 AS bytes FROM events
    WHERE event_type = ${type} AND coalesce(violation_type, '') = '' AND id = ANY (ARRAY(
      SELECT event_id FROM (
        SELECT event_id FROM watchlist_alerts UNION SELECT event_id FROM watchlist_sightings
        UNION SELECT event_id FROM incident_events UNION SELECT event_id FROM event_reviews
        UNION SELECT event_id FROM case_items WHERE event_id IS NOT NULL
        UNION SELECT event_id FROM events_to_follow_up UNION SELECT held.event_id FROM ${heldEvents}
      ) AS used WHERE event_id >= ${from}::uuid AND event_id < ${until}::uuid
    )) GROUP BY 1, 2`);
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
    isDue: (cutoff: SQL) => sql`finished_at < ${cutoff}
      AND NOT EXISTS (SELECT FROM situation_reports WHERE report_id = reports.id)`,
    bytes: sql`coalesce(sum(size), 0)::bigint`,
  },
  // Days of sensors, also those with periods and no counts. Plan: the unique index of traffic_bins, and traffic_periods_by_start
  // for each other day of a sensor.
  traffic: {
    table: sql`(
      SELECT DISTINCT sensor_id, slot FROM traffic_bins WHERE minutes = 1440
      UNION ALL
      SELECT sensor_id, day
      FROM (SELECT sensor_id, max(last_slot) AS last FROM traffic_places WHERE periods GROUP BY 1) AS counters
        CROSS JOIN LATERAL (
          SELECT min(start) AS first FROM traffic_periods WHERE traffic_periods.sensor_id = counters.sensor_id
        ) AS stored
        CROSS JOIN LATERAL generate_series(date_bin('1 day', first, ${ORIGIN}), last, interval '24 hours') AS day
        CROSS JOIN LATERAL (
          SELECT FROM traffic_periods
          WHERE traffic_periods.sensor_id = counters.sensor_id AND start >= day AND start < day + interval '24 hours' LIMIT 1
        ) AS one
      WHERE NOT EXISTS (
        SELECT FROM traffic_bins WHERE minutes = 1440 AND traffic_bins.sensor_id = counters.sensor_id AND slot = day
      )
    ) AS days`,
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
  cases: {
    table: sql`cases`,
    time: sql`closed_at`,
    isDue: (cutoff: SQL) => sql`closed_at < ${cutoff}`,
    bytes: sql`0`,
  },
  activity: {
    table: sql`activity`,
    time: sql`at`,
    isDue: (cutoff: SQL) => sql`at < ${cutoff} AND id NOT IN ${ENTRIES_UNDER_AUDIT}`,
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
