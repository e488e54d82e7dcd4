import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { silenceSensors } from './status-store.ts';

const ROUND_MS = 2_000;

export interface SweeperOptions {
  readonly pool: Pool;
  readonly log: Logger;
  /** A sensor that is ONLINE and sends no heartbeat for this long goes OFFLINE. */
  readonly timeoutSeconds: number;
}

/** Looks once for sensors that have gone silent. A failure is logged: the next round finds the same sensors again. */
export const sweepOnce = async ({ pool, log, timeoutSeconds }: SweeperOptions): Promise<void> => {
  try {
    const silenced = await silenceSensors(pool, timeoutSeconds);
    if (silenced > 0) log.info({ sensors: silenced }, 'sensors went silent');
  } catch (error) {
    log.warn({ err: error }, 'cannot look for silent sensors now; the next round will');
  }
};

/** Looks for silent sensors every 2 seconds until it is disposed of; disposing waits for the round under way. */
export const startSweeper = (options: SweeperOptions): AsyncDisposable => {
  let round: Promise<void> | null = null;
  const timer = setInterval(() => {
    round ??= sweepOnce(options).finally(() => {
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
