import { forgetOldDeletions } from '../../events/remove-store.ts';
import { readDatabaseTime } from '../../platform/database/moment.ts';
import type { Transaction } from '../../platform/database/transaction.ts';
import { safeText } from '../../platform/describe-error.ts';
import { startPeriodic } from '../../platform/periodic.ts';
import { dailyAt } from '../../platform/time.ts';
import { hasHitDays, removeHitsDue } from '../../watchlist/hits-store.ts';
import { cutoffsOf, hasLimits, requireSmallStep, StepTooLarge } from './cutoffs.ts';
import {
  type RemovedRecords,
  removeActivityBefore,
  removeCasesBefore,
  removeLogBefore,
  removeReportsBefore,
} from './removal-store.ts';
import {
  type Run,
  type RunParts,
  removeDueEvents,
  removeDueTraffic,
  removeEventsWithoutHit,
  removeRecorded,
} from './remove.ts';
import { removeDueImages } from './remove-images.ts';
import {
  beginRun,
  finishRun,
  getRetentionSettings,
  lastCompletedStart,
  lastRemovingStart,
  lastSettledStart,
  refuseStep,
} from './store.ts';

const RECORDS_AT_ONCE = 5_000;

/** Maximum length of a stored error message. */
const ERROR_MAX = 500;

/**
 * Executes a run: removes what is due by the rules, batch by batch, and records the result. A failure is recorded and
 * logged; the next run continues from there.
 */
export async function executeRun(
  parts: RunParts,
  { id, startedBy }: Pick<Run, 'id' | 'startedBy'>,
  stopped: () => boolean,
): Promise<void> {
  const { db, log } = parts;
  try {
    await removeAllDue({ ...parts, id, startedBy, stopped });
    await finishRun(db, id, stopped() ? 'STOPPED' : 'COMPLETED', null);
  } catch (err) {
    if (err instanceof StepTooLarge) {
      log.error({ runId: id }, err.message);
      return refuseStep(db, id, err.message);
    }
    log.error(
      { err, runId: id },
      'retention could not remove everything that is due; the next run continues',
    );
    await finishRun(db, id, 'FAILED', safeText(err).slice(0, ERROR_MAX).toWellFormed());
  }
}

async function removeRecords(
  run: Run,
  name: 'activity' | 'cases' | 'hits' | 'log' | 'reports',
  cutoff: number | null,
  remove: (tx: Transaction, cutoff: number, limit: number) => Promise<RemovedRecords[]>,
): Promise<void> {
  if (cutoff === null) return;
  let removed: readonly unknown[];
  do {
    removed = await removeRecorded(run, async (tx) =>
      (await remove(tx, cutoff, RECORDS_AT_ONCE)).map((each) => ({ ...each, class: name })),
    );
  } while (removed.length > 0 && !run.stopped());
}

async function removeAllDue(run: Run): Promise<void> {
  const since = await lastCompletedStart(run.db);
  const rules = await getRetentionSettings(run.db);
  const now = await readDatabaseTime(run.db);
  const due = cutoffsOf(rules, now, await hasHitDays(run.db));
  if (run.startedBy === null && hasLimits(due)) {
    requireSmallStep(now, await lastRemovingStart(run.db), rules.updatedAt?.getTime() ?? null);
  }
  await removeDueEvents(run, due);
  await removeEventsWithoutHit(run, due);
  await removeRecords(run, 'reports', due.reports, removeReportsBefore);
  await removeRecords(run, 'activity', due.activity, removeActivityBefore);
  await removeRecords(run, 'hits', due.hits, removeHitsDue);
  await removeRecords(run, 'log', due.log, removeLogBefore);
  await removeRecords(run, 'cases', due.cases, removeCasesBefore);
  await removeDueTraffic(run, due.traffic);
  await removeDueImages(run, due, since);
  await forgetOldDeletions(run.db);
}

/** The hour of the day, in the service's time zone, at which the daily run is due. */
const HOUR = 3;
const LOOK_MS = 600_000;

/** The previous and the next time of the daily run (Unix milliseconds). */
export function dailyRuns(now: number, zone: string): { last: number; next: number } {
  return dailyAt(HOUR, now, zone);
}

/** The services of retention that the application context contains. */
export interface RetentionServices {
  readonly retention: Retention;
}

interface RetentionParts extends RunParts {
  /** The service's time zone (IANA). */
  readonly zone: () => string;
}

/**
 * Runs retention daily and on request, until it is disposed of; disposing waits for the current batch. Every process
 * checks every ten minutes whether the daily run is due, and the database gives a run to one of them.
 */
export class Retention implements AsyncDisposable {
  readonly #parts: RetentionParts;
  readonly #underway = new Set<Promise<void>>();
  readonly #looking: AsyncDisposable;
  #isOver = false;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    const { db, log, zone } = parts;
    this.#looking = startPeriodic(
      { everyMs: LOOK_MS, log, failure: 'retention cannot run now; trying again later' },
      async () => {
        const before = await lastSettledStart(db);
        const { last } = dailyRuns(await readDatabaseTime(db), zone());
        if (before === null || before < last) await this.begin(null);
      },
    );
  }

  /**
   * Starts a run, unless one is in progress in any process.
   * @param record what else to write in the transaction that starts it
   * @returns its id, or null
   */
  async begin(
    startedBy: string | null,
    record?: (tx: Transaction, runId: string) => Promise<void>,
  ): Promise<string | null> {
    const { db, log } = this.#parts;
    const id = await beginRun(db, startedBy, record);
    if (id === null) return null;
    const run: Promise<void> = executeRun(this.#parts, { id, startedBy }, () => this.#isOver)
      .catch((err: unknown) =>
        log.error({ err, runId: id }, 'the end of a retention run could not be recorded'),
      )
      .finally(() => this.#underway.delete(run));
    this.#underway.add(run);
    return id;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#looking[Symbol.asyncDispose]();
    await Promise.all(this.#underway);
  }
}
