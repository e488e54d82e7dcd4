import type { EventType } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import { sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';
import { COUNTED_COLUMNS, countingOf } from './counts/counting.ts';

/** How many events of a type and a month were removed. */
export interface RemovedCount {
  readonly eventType: EventType;
  /** `YYYY-MM` in UTC. */
  readonly month: string;
  readonly rows: number;
}

/** What a query on rows of events selects, under the names of `RemovedCount`, to be grouped by its first two columns. */
export const removedCount = sql.raw(
  `event_type AS "eventType", to_char(event_time(id) AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS rows`,
);

const out = countingOf('gone', -1);
const arrivals = sql.raw(out.arrivals);
const totals = sql.raw(out.totals);
const traffic = sql.raw(`, passed AS (${out.traffic})`);

/**
 * Removes events for good, and takes them off what counts the events that there are.
 * @param fromTraffic whether they are taken off the counts of traffic too, as if nothing had passed
 * @returns how many there were of each type and month
 */
export async function removeEvents(
  tx: Executor,
  ids: readonly string[],
  fromTraffic: boolean,
): Promise<RemovedCount[]> {
  // Plan: events_pkey of the partitions that the ids fall into, and event_images_pkey.
  const { rows } = await tx.execute<RemovedCount & Record<string, unknown>>(sql`
    WITH gone AS (
      DELETE FROM events WHERE id = ANY (${sql.param(ids)}::uuid[]) RETURNING ${sql.raw(COUNTED_COLUMNS)}
    ), arrived AS (${arrivals}), counted AS (${totals}), pictures AS (
      DELETE FROM event_images WHERE event_id = ANY (${sql.param(ids)}::uuid[])
    )${fromTraffic ? traffic : sql``}
    SELECT ${removedCount} FROM gone GROUP BY 1, 2`);
  return rows;
}

/** Removes an event as if it had never been there; false when there was none. */
export async function removeEvent(tx: Executor, id: string): Promise<boolean> {
  return isUuid(id) && (await removeEvents(tx, [id], true)).length > 0;
}
