import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { startPeriodic } from '../platform/periodic.ts';
import { forgetForeignChanges, KEPT_HOURS, pruneChanges } from './changes-store.ts';

const EVERY_MS = 600_000;

/** Removes expired changes every ten minutes, until it is disposed of. */
export function startPruning({ pool, log }: { pool: Pool; log: Logger }): AsyncDisposable {
  return startPeriodic(
    { everyMs: EVERY_MS, log, failure: 'old changes could not be removed now; the next run will try again' },
    async (isOver) => {
      await forgetForeignChanges(pool);
      // An hour longer than documented, for clients that reconnect meanwhile.
      while (!isOver() && (await pruneChanges(pool, KEPT_HOURS + 1)) > 0);
    },
  );
}
