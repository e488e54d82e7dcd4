import type { StorageStats } from '@gantry/contract/storage';
import { sql } from 'drizzle-orm';
import type { Executor } from '../database/transaction.ts';
import { timeOfId } from '../events/id.ts';
import { countedEvents } from '../events/totals.ts';

const EVER = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

interface StatsRow extends Record<string, unknown> {
  database_bytes: number;
  event_count: number;
  oldest: string | null;
  newest: string | null;
}

const timeOf = (id: string | null): Date | null => (id === null ? null : new Date(timeOfId(id)));

/** What is stored, from the totals and the ends of the events' primary key. */
export const getStorageStats = async (db: Executor): Promise<StorageStats> => {
  const { rows } = await db.execute<StatsRow>(sql`
    SELECT pg_database_size(current_database()) AS database_bytes,
      (SELECT coalesce(sum(n), 0)::bigint FROM ${countedEvents(EVER)}) AS event_count,
      (SELECT id FROM events ORDER BY id LIMIT 1) AS oldest,
      (SELECT id FROM events ORDER BY id DESC LIMIT 1) AS newest`);
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL did not answer the storage statistics');
  return {
    databaseBytes: row.database_bytes,
    eventCount: row.event_count,
    oldestEvent: timeOf(row.oldest),
    newestEvent: timeOf(row.newest),
  };
};
