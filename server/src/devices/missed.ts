import type { Database } from '../platform/database/pool.ts';
import type { Metrics } from '../platform/metrics.ts';
import { type MissedMessages, recordMissed } from './missed-store.ts';
import type { KnownConnection } from './store.ts';

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
