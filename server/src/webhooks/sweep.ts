import type { Logger } from 'pino';
import type { Database } from '../platform/database/pool.ts';
import { startRounds } from '../platform/periodic.ts';
import { removeOldDeliveries, wakeLateWebhooks } from './sweep-store.ts';

export interface SweepOptions {
  readonly db: Database;
  readonly log: Logger;
  /** How often to look, and how late deliveries are by then, in milliseconds. */
  readonly everyMs?: number;
  /** Whether late deliveries are to be made; otherwise only old ones are removed. */
  readonly wakesLate?: boolean;
}

const EVERY_MS = 30_000;
/** Old deliveries are removed every so many rounds, of each hook so many. */
const ROUNDS_BETWEEN_REMOVALS = 20;
const REMOVED_AT_ONCE = 10_000;

/**
 * Looks for deliveries that nobody makes, and for old ones, until it is disposed of; disposing waits for the round under
 * way. Of several processes one does it.
 */
export const startSweepingDeliveries = ({
  db,
  log,
  everyMs = EVERY_MS,
  wakesLate = true,
}: SweepOptions): AsyncDisposable => {
  let rounds = 0;
  return startRounds(
    { everyMs, log, failure: 'late deliveries cannot be searched for now; the next run will try again' },
    async () => {
      if (wakesLate) await wakeLateWebhooks(db, everyMs);
      if (rounds++ % ROUNDS_BETWEEN_REMOVALS === 0) await removeOldDeliveries(db, REMOVED_AT_ONCE);
    },
  );
};
