const DAY_MS = 86_400_000;

/** By how many days more than the last run a daily run may reach back, unless the rules were changed since. */
const LARGEST_STEP_DAYS = 31;

/** A daily run would remove too much at once. */
export class StepTooLarge extends Error {
  override readonly name = 'StepTooLarge';
}

/**
 * Stops a daily run that follows the last one after too long a time: either the service was away, or a clock is wrong, and
 * what is removed does not come back. All moments in Unix milliseconds, by the clock of the database.
 * @param last when the last run began that was completed; null when there was none
 * @param rulesChanged when the rules were changed last; null: never
 * @throws StepTooLarge saying what to do
 */
export function requireSmallStep(now: number, last: number | null, rulesChanged: number | null): void {
  if (last === null || (rulesChanged !== null && rulesChanged >= last)) return;
  const days = Math.floor((now - last) / DAY_MS);
  if (days <= LARGEST_STEP_DAYS) return;
  throw new StepTooLarge(
    `Nothing was removed: by the clock of the database it is ${dayOf(now)}, ${days} days after the last run, and a daily run ` +
      `removes at most what became due within ${LARGEST_STEP_DAYS} days. Check that clock, look at ` +
      'storage.previewRetention, and call storage.runRetention to remove it.',
  );
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
