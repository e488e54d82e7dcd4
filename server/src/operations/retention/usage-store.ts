import { sql } from 'drizzle-orm';
import { countedEvents } from '../../events/counts/totals.ts';
import { timeOfId } from '../../events/id.ts';
import { readDatabaseBytes } from '../../platform/database/nodes.ts';
import type { Executor } from '../../platform/database/transaction.ts';

const EVER = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

interface StatsRow extends Record<string, unknown> {
  event_count: number;
  oldest: string | null;
  newest: string | null;
  image_count: number;
  image_bytes: number;
}

/** Totals of the stored data. */
export interface StoredTotals {
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
