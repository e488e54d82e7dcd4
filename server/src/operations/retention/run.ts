import { forgetOldDeletions } from '../../events/remove-store.ts';
import { readDatabaseTime } from '../../platform/database/moment.ts';
import type { Transaction } from '../../platform/database/transaction.ts';
import { safeText } from '../../platform/describe-error.ts';
import { cutoffsOf, hasLimits } from './cutoffs.ts';
import { type Run, type RunParts, removeRecorded } from './recorded-removal.ts';
import { type RemovedRecords, removeActivityBefore, removeReportsBefore } from './removal-store.ts';
import { removeDueEvents } from './remove-events.ts';
import { removeDueImages } from './remove-images.ts';
import { removeDueTraffic } from './remove-traffic.ts';
import { getRetentionSettings } from './rules-store.ts';
import { finishRun, lastCompletedStart, lastRemovingStart, refuseStep } from './runs-store.ts';
import { requireSmallStep, StepTooLarge } from './step.ts';

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
  name: 'activity' | 'reports',
  cutoff: number | null,
  remove: (tx: Transaction, cutoff: number, limit: number) => Promise<RemovedRecords[]>,
): Promise<void> {
  if (cutoff === null) return;
  let removed: readonly unknown[];
  do {
    removed = await removeRecorded(run, async (tx) =>
      (await remove(tx, cutoff, RECORDS_AT_ONCE)).map((each) => ({
        class: name,
        eventType: null,
        month: each.month,
        rows: each.rows,
        bytes: each.bytes,
        whole: false,
      })),
    );
  } while (removed.length > 0 && !run.stopped());
}

async function removeAllDue(run: Run): Promise<void> {
  const since = await lastCompletedStart(run.db);
  const rules = await getRetentionSettings(run.db);
  const now = await readDatabaseTime(run.db);
  const due = cutoffsOf(rules, now);
  if (run.startedBy === null && hasLimits(due)) {
    requireSmallStep(now, await lastRemovingStart(run.db), rules.updatedAt?.getTime() ?? null);
  }
  await removeDueEvents(run, due);
  await removeRecords(run, 'reports', due.reports, removeReportsBefore);
  await removeRecords(run, 'activity', due.activity, removeActivityBefore);
  await removeDueTraffic(run, due.traffic);
  await removeDueImages(run, due, since);
  await forgetOldDeletions(run.db);
}
