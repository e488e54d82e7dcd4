import type { AppContext } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { publishStatus } from './publish-status.ts';
import { silenceReason, silenceSensors } from './status-store.ts';

const ROUND_MS = 2_000;

type Parts = Pick<AppContext, 'db' | 'log' | 'webhooks'>;

/**
 * Looks once for sensors that are ONLINE and sent no heartbeat for so long. A failure is logged: the next round finds the
 * same sensors again.
 */
export const sweepOnce = async (parts: Parts, timeoutSeconds: number): Promise<void> => {
  const { db, log } = parts;
  try {
    const silenced = await inTransaction(db, async (tx) => {
      const outcomes = await silenceSensors(tx, timeoutSeconds);
      await publishStatus(parts, tx, outcomes, silenceReason(timeoutSeconds));
      return outcomes.length;
    });
    if (silenced > 0) log.info({ sensors: silenced }, 'sensors went silent');
  } catch (error) {
    log.warn({ err: error }, 'cannot look for silent sensors now; the next round will');
  }
};

/** Looks for silent sensors every 2 seconds until it is disposed of; disposing waits for the round under way. */
export const startSweeper = (parts: Parts, timeoutSeconds: number): AsyncDisposable => {
  let round: Promise<void> | null = null;
  const timer = setInterval(() => {
    round ??= sweepOnce(parts, timeoutSeconds).finally(() => {
      round = null;
    });
  }, ROUND_MS);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await round;
    },
  };
};
