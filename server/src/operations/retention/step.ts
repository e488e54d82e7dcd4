import { DAY_MS } from '@gantry/contract/durations';

/** Maximum number of days that a daily run may cover beyond the last run, unless the rules have changed since. */
const MAX_STEP_DAYS = 31;

/** A daily run would remove too much at once. */
export class StepTooLarge extends Error {
  override readonly name = 'StepTooLarge';
}

/**
 * Refuses a daily run too long after the last one: either the service was down or a clock is wrong, and removals are
 * final. All times in Unix milliseconds, by the clock of the database.
 * @param last start of the last run that was completed, or removed something; null when there was none
 * @param rulesChanged when the rules were last changed; null for never
 * @throws StepTooLarge with what to do
 */
export function requireSmallStep(now: number, last: number | null, rulesChanged: number | null): void {
  if (last === null || (rulesChanged !== null && rulesChanged >= last)) return;
  const days = Math.floor((now - last) / DAY_MS);
  if (days <= MAX_STEP_DAYS) return;
  throw new StepTooLarge(
    `Nothing was removed: by the clock of the database it is ${dayOf(now)}, ${days} days after the last run, and a daily run ` +
      `removes at most what became due within ${MAX_STEP_DAYS} days. Check that clock, look at ` +
      'storage.previewRetention, and call storage.runRetention to remove it.',
  );
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
