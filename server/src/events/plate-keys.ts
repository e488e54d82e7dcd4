import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../platform/database/pool.ts';
import { startPeriodic } from '../platform/periodic.ts';
import { renewPlateKeys } from './plate-keys-store.ts';

/**
 * Brings the stored keys of plates along after an upgrade that changed their rules, in small steps and with half of one
 * connection's time. Searches find both forms of a key meanwhile. Disposing waits for the step in progress; another
 * process, or the next start, continues.
 */
export function startRenewingPlateKeys({
  db,
  log,
  everyMs,
}: {
  readonly db: Database;
  readonly log: Logger;
  readonly everyMs: number;
}): AsyncDisposable {
  const rounds = startPeriodic(
    { everyMs, log, failure: 'the keys of plates could not be renewed now; trying again later' },
    async (isOver) => {
      while (!isOver()) {
        const began = performance.now();
        if ((await renewPlateKeys(db)) !== 'ahead') return;
        await sleep(performance.now() - began, undefined, { ref: false });
      }
    },
  );
  rounds.startNow();
  return rounds;
}
