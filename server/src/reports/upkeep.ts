import type { Logger } from 'pino';
import type { Database } from '../platform/database/pool.ts';
import { startRounds } from '../platform/periodic.ts';
import { reviveReports } from './claim-store.ts';
import type { ReportFiles } from './files.ts';
import { runDueSchedules } from './run-schedules.ts';
import type { ReportRunner } from './runner.ts';
import { findKeysInUse } from './store.ts';

export interface RoundsOptions {
  readonly db: Database;
  readonly files: ReportFiles;
  readonly runner: Pick<ReportRunner, 'wake'>;
  readonly log: Logger;
  readonly everyMs?: number;
  /** How long a process may give no sign of life before its report is begun anew, in milliseconds. */
  readonly deadMs?: number;
}

const EVERY_MS = 5_000;
const DEAD_MS = 15_000;
/** Files that nobody knows are looked for every so many rounds, and go when they are so old, in milliseconds. */
const ROUNDS_BETWEEN_CLEARING = 240;
const LEFT_OVER_MS = 3_600_000;

/** Removes files of this machine that no report has (any more): it was removed elsewhere, or its process died. */
export const clearLeftOvers = async (db: Database, files: ReportFiles, olderMs: number): Promise<void> => {
  const names = await files.listOlderThan(olderMs);
  const inUse = await findKeysInUse(db, names);
  for (const name of names) if (!inUse.has(name)) await files.remove(name);
};

/**
 * Looks every few seconds for schedules that are due, for reports whose process is gone and for reports that wait, until
 * it is disposed of; disposing waits for the round under way. Every process does so: the database gives each to one.
 */
export const startReportRounds = (options: RoundsOptions): AsyncDisposable => {
  const { db, files, runner, log, everyMs = EVERY_MS, deadMs = DEAD_MS } = options;
  let rounds = 0;
  return startRounds(
    { everyMs, log, failure: 'due reports cannot be searched for now; the next run will try again' },
    async () => {
      await runDueSchedules(db, log);
      await reviveReports(db, deadMs);
      runner.wake();
      if (rounds++ % ROUNDS_BETWEEN_CLEARING === 0) await clearLeftOvers(db, files, LEFT_OVER_MS);
    },
  );
};
