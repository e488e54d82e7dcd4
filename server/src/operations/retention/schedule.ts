import { DateTime } from 'luxon';
import { readDatabaseTime } from '../../platform/database/moment.ts';
import type { Transaction } from '../../platform/database/transaction.ts';
import { startPeriodic } from '../../platform/periodic.ts';
import type { RunParts } from './recorded-removal.ts';
import { executeRun } from './run.ts';
import { beginRun, lastSettledStart } from './runs-store.ts';

/** The hour of the day, in the service's time zone, at which the daily run is due. */
const HOUR = 3;
const LOOK_MS = 600_000;

/** The previous and the next time of the daily run (Unix milliseconds). */
export function dailyRuns(now: number, zone: string): { last: number; next: number } {
  const today = DateTime.fromMillis(now, { zone }).startOf('day').set({ hour: HOUR });
  const last = today.toMillis() <= now ? today : today.minus({ days: 1 });
  return { last: last.toMillis(), next: last.plus({ days: 1 }).toMillis() };
}

/** Runs retention daily and on request. */
export interface Retention extends AsyncDisposable {
  /**
   * Starts a run, unless one is in progress in any process.
   * @param record what else to write in the transaction that starts it
   * @returns its id, or null
   */
  begin(
    startedBy: string | null,
    record?: (tx: Transaction, runId: string) => Promise<void>,
  ): Promise<string | null>;
}

/** The services of retention that the application context contains. */
export interface RetentionServices {
  readonly retention: Retention;
}

export interface RetentionParts extends RunParts {
  /** The service's time zone (IANA). */
  readonly zone: () => string;
}

/**
 * Checks every ten minutes whether the daily run is due, until it is disposed of; disposing waits for the current
 * batch. Every process does so, and the database gives a run to one of them.
 */
export function startRetention(parts: RetentionParts): Retention {
  const { db, log, zone } = parts;
  let stopped = false;
  const underway = new Set<Promise<void>>();

  const begin: Retention['begin'] = async (startedBy, record) => {
    const id = await beginRun(db, startedBy, record);
    if (id === null) return null;
    const run: Promise<void> = executeRun(parts, { id, startedBy }, () => stopped)
      .catch((err: unknown) =>
        log.error({ err, runId: id }, 'the end of a retention run could not be recorded'),
      )
      .finally(() => underway.delete(run));
    underway.add(run);
    return id;
  };

  const looking = startPeriodic(
    { everyMs: LOOK_MS, log, failure: 'retention cannot run now; trying again later' },
    async () => {
      const before = await lastSettledStart(db);
      const { last } = dailyRuns(await readDatabaseTime(db), zone());
      if (before === null || before < last) await begin(null);
    },
  );

  return {
    begin,
    async [Symbol.asyncDispose]() {
      stopped = true;
      await looking[Symbol.asyncDispose]();
      await Promise.all(underway);
    },
  };
}
