import type {
  RetentionInput,
  RetentionPreview,
  RetentionRun,
  RetentionSettings,
  SetRetentionInput,
} from '@gantry/contract/storage';
import { recordActivity } from '../../activity/store.ts';
import type { ActorContext, Core } from '../../platform/context.ts';
import { readDatabaseTime } from '../../platform/database/moment.ts';
import { inTransaction } from '../../platform/database/transaction.ts';
import { AppError } from '../../platform/error.ts';
import { resolveTime } from '../../platform/time.ts';
import { previewRemovals } from './preview.ts';
import type { RetentionServices } from './schedule.ts';
import { changedRules, getRetentionSettings, getRules, listRuns, lockRules, storeRules } from './store.ts';

/**
 * Changes the rules of the given classes. Nothing is removed before the next run.
 * @throws AppError `conflict` when somebody has changed them since the caller saw them
 */
export function setRetention(
  { app, actor, caller }: ActorContext,
  { expectedUpdatedAt, ...input }: SetRetentionInput,
): Promise<RetentionSettings> {
  return inTransaction(app.db, async (tx) => {
    const before = await lockRules(tx);
    const after = changedRules(before, input);
    if (JSON.stringify(after) !== JSON.stringify(before)) {
      if (expectedUpdatedAt !== undefined) {
        const { timezone } = app.settings.current();
        const seenAt = expectedUpdatedAt === null ? null : resolveTime(expectedUpdatedAt, timezone);
        refuseIfNewer(await getRetentionSettings(tx), seenAt);
      }
      await storeRules(tx, after, actor.id);
      await recordActivity(tx, actor.id, caller, 'storage.setRetention', { before, after });
    }
    return getRetentionSettings(tx);
  });
}

/**
 * Refuses a change when the rules are newer than the caller has seen.
 * @param seenAt the `updatedAt` that the user last saw, in Unix milliseconds; null: they had never been changed
 * then
 * @throws AppError `conflict`
 */
function refuseIfNewer({ updatedAt, updatedBy }: RetentionSettings, seenAt: number | null): void {
  if (updatedAt === null || (seenAt !== null && updatedAt.getTime() <= seenAt)) return;
  throw new AppError(
    'conflict',
    `${updatedBy?.name ?? 'Somebody'} changed the retention rules at ${updatedAt.toISOString()}: reload them before you change them`,
  );
}

/** What would be removed now, by the current rules with changes to the given classes. */
export async function previewRetention(
  { app }: ActorContext,
  input: RetentionInput,
): Promise<RetentionPreview> {
  return previewRemovals(app.db, changedRules(await getRules(app.db), input), await readDatabaseTime(app.db));
}

/**
 * Starts a run of retention, which continues after the answer.
 * @throws AppError `conflict` when one is in progress
 */
export async function runRetention({
  app,
  actor,
  caller,
}: ActorContext<Core & RetentionServices>): Promise<RetentionRun> {
  const id = await app.retention.begin(actor.id, (tx, runId) =>
    recordActivity(tx, actor.id, caller, 'storage.runRetention', { runId }),
  );
  if (id === null) throw new AppError('conflict', 'Retention is already running: wait until it has finished');
  const { items } = await listRuns(app.db, { skip: 0, take: 1, id });
  if (!items[0]) throw new Error('The run that was started does not exist');
  return items[0];
}
