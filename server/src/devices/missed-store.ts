import { sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';

/** Messages of a connection that were not stored. Times are those of the last one, in Unix milliseconds. */
export interface MissedMessages {
  readonly connectionId: string;
  /** Refused because the connection sent too many. */
  readonly limited: number;
  readonly limitedAt: number | null;
  /** Neither stored nor put on disk, from a device that does not send again. */
  readonly lost: number;
  readonly lostAt: number | null;
}

/** Adds to the counts of connections. */
export async function recordMissed(db: Executor, missed: readonly MissedMessages[]): Promise<void> {
  const rows = [...missed]
    .sort((a, b) => (a.connectionId < b.connectionId ? -1 : 1))
    .map(({ connectionId, limited, limitedAt, lost, lostAt }) => ({
      id: connectionId,
      limited,
      limited_at: limitedAt === null ? null : new Date(limitedAt).toISOString(),
      lost,
      lost_at: lostAt === null ? null : new Date(lostAt).toISOString(),
    }));
  await db.execute(sql`
    UPDATE connections SET
      limited_messages = limited_messages + missed.limited,
      limited_at = greatest(connections.limited_at, missed.limited_at),
      lost_messages = lost_messages + missed.lost,
      lost_at = greatest(connections.lost_at, missed.lost_at)
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS missed
      (id uuid, limited bigint, limited_at timestamptz, lost bigint, lost_at timestamptz)
    WHERE connections.id = missed.id`);
}
