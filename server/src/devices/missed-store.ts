import { sql } from 'drizzle-orm';
import type { Database } from '../platform/database/pool.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { KnownConnection } from './store.ts';

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

/** Why a message was not stored: its connection sent too many, or there was no memory or, in an outage, no disk space for it. */
export type MissReason = 'limited' | 'lost';

/** Counts messages that were not stored, in the metrics and for their connections. */
export interface Missed {
  note(connection: Pick<KnownConnection, 'id' | 'format'>, reason: MissReason, messages?: number): void;
  /** Records what was counted since the last call. If that fails, the counts are kept for the next call. */
  write(): Promise<void>;
}

const OUTCOMES = { limited: 'LIMITED', lost: 'LOST' } as const;

export function createMissed(
  db: Database,
  { metrics, now }: { readonly metrics: Metrics; readonly now: () => number },
): Missed {
  let counted = new Map<string, MissedMessages>();

  const add = (each: MissedMessages): void => {
    const { connectionId, limited, lost, limitedAt, lostAt } = each;
    const known = counted.get(connectionId);
    counted.set(connectionId, {
      connectionId,
      limited: limited + (known?.limited ?? 0),
      lost: lost + (known?.lost ?? 0),
      limitedAt: Math.max(limitedAt ?? 0, known?.limitedAt ?? 0) || null,
      lostAt: Math.max(lostAt ?? 0, known?.lostAt ?? 0) || null,
    });
  };

  return {
    note({ id: connectionId, format }, reason, messages = 1) {
      metrics.deviceMessages.inc({ format, outcome: OUTCOMES[reason] }, messages);
      const isLost = reason === 'lost';
      add({
        connectionId,
        limited: isLost ? 0 : messages,
        lost: isLost ? messages : 0,
        limitedAt: isLost ? null : now(),
        lostAt: isLost ? now() : null,
      });
    },
    async write() {
      if (counted.size === 0) return;
      const written = counted;
      counted = new Map();
      try {
        await recordMissed(db, [...written.values()]);
      } catch (error) {
        for (const each of written.values()) add(each);
        throw error;
      }
    },
  };
}
