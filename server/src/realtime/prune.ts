import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { startPeriodic } from '../platform/periodic.ts';
import { forgetForeignChanges, KEPT_HOURS, pruneChanges } from './changes-store.ts';

const EVERY_MS = 600_000;

/** Forgets, every ten minutes until it is disposed of, the changes that nobody can ask for any more. */
export function startPruning({ pool, log }: { pool: Pool; log: Logger }): AsyncDisposable {
  return startPeriodic(
    { everyMs: EVERY_MS, log, failure: 'old changes could not be removed now; the next run will try again' },
    async (isOver) => {
      await forgetForeignChanges(pool);
      // An hour longer than it is promised, for clients that reconnect meanwhile.
      while (!isOver() && (await pruneChanges(pool, KEPT_HOURS + 1)) > 0);
    },
  );
}
