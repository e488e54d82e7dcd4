import { sql } from 'drizzle-orm';
import type { Core } from '../platform/context.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { KnownConnection } from './store.ts';

/** Messages of a connection that were not stored. Times are those of the last one, in Unix milliseconds. */
interface MissedCounts {
  readonly connectionId: string;
  /** Refused because the connection sent too many. */
  readonly limited: number;
  readonly limitedAt: number | null;
  /** Neither stored nor put on disk, from a device that does not send again. */
  readonly lost: number;
  readonly lostAt: number | null;
}

/** Why a message was not stored: its connection sent too many, or there was no memory or, in an outage, no disk space for it. */
export type MissReason = 'limited' | 'lost';

const OUTCOMES = { limited: 'LIMITED', lost: 'LOST' } as const;

/** Counts messages that were not stored, in the metrics and for their connections. */
export class MissedMessages {
  readonly #app: Pick<Core, 'gateways' | 'metrics' | 'clock'>;
  #counted = new Map<string, MissedCounts>();

  constructor(app: Pick<Core, 'gateways' | 'metrics' | 'clock'>) {
    this.#app = app;
  }

  note(
    { id: connectionId, format }: Pick<KnownConnection, 'id' | 'format'>,
    reason: MissReason,
    messages = 1,
  ): void {
    this.#app.metrics.deviceMessages.inc({ format, outcome: OUTCOMES[reason] }, messages);
    const now = this.#app.clock.now();
    const none = { connectionId, limited: 0, limitedAt: null, lost: 0, lostAt: null };
    this.#add(
      reason === 'lost'
        ? { ...none, lost: messages, lostAt: now }
        : { ...none, limited: messages, limitedAt: now },
    );
  }

  /** Records what was counted since the last call. If that fails, the counts are kept for the next call. */
  async write(): Promise<void> {
    if (this.#counted.size === 0) return;
    const written = this.#counted;
    this.#counted = new Map();
    try {
      await recordMissed(this.#app.gateways, [...written.values()]);
    } catch (error) {
      for (const each of written.values()) this.#add(each);
      throw error;
    }
  }

  #add({ connectionId, limited, lost, limitedAt, lostAt }: MissedCounts): void {
    const known = this.#counted.get(connectionId);
    this.#counted.set(connectionId, {
      connectionId,
      limited: limited + (known?.limited ?? 0),
      lost: lost + (known?.lost ?? 0),
      limitedAt: Math.max(limitedAt ?? 0, known?.limitedAt ?? 0) || null,
      lostAt: Math.max(lostAt ?? 0, known?.lostAt ?? 0) || null,
    });
  }
}

/** Adds to the counts of connections. */
async function recordMissed(db: Executor, missed: readonly MissedCounts[]): Promise<void> {
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
