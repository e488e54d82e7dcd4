import { DAY_MS } from '@gantry/contract/durations';
import { type EventType, eventType } from '@gantry/contract/events';
import type { RetentionRules } from '@gantry/contract/storage';
import { typesWithoutHit } from '@gantry/contract/values';
import { type EventMonth, holdsMonth } from '../../events/partitions.ts';

/** The time (Unix milliseconds, a midnight in UTC) before which records are due for removal; null for never. */
type Cutoff = number | null;

/** The records that are due. */
export interface Cutoffs {
  readonly events: ReadonlyMap<EventType, number>;
  /** The later cutoffs of events of which nothing came. */
  readonly withoutHit: ReadonlyMap<EventType, number>;
  readonly images: Cutoff;
  readonly reports: Cutoff;
  readonly activity: Cutoff;
  readonly traffic: Cutoff;
  /** The day from which the days of hotlists count back; null if no hotlist limits its hits. */
  readonly hits: Cutoff;
  readonly log: Cutoff;
  readonly cases: Cutoff;
}

/**
 * The cutoffs that follow from the rules at a time, and from whether hotlists limit their hits. They are whole days in UTC, so that the result is the same all
 * day and a preview matches the run.
 */
export function cutoffsOf(rules: RetentionRules, now: number, hasHitDays: boolean): Cutoffs {
  return {
    events: new Map(
      eventType.options.flatMap((type) => {
        const cutoff = cutoffAfter(daysOf(rules, type), now);
        return cutoff === null ? [] : [[type, cutoff] as const];
      }),
    ),
    withoutHit: cutoffsWithoutHit(rules, now),
    images: cutoffAfter(rules.images, now),
    reports: cutoffAfter(rules.reports, now),
    activity: cutoffAfter(rules.activity, now),
    traffic: cutoffAfter(rules.traffic, now),
    hits: cutoffAfter(hasHitDays ? 0 : null, now),
    log: cutoffAfter(rules.log, now),
    cases: cutoffAfter(rules.cases, now),
  };
}

function cutoffsWithoutHit(rules: RetentionRules, now: number): ReadonlyMap<EventType, number> {
  const later = typesWithoutHit.flatMap((type) => {
    const cutoff = cutoffAfter(rules.events.withoutHit[type] ?? null, now);
    const own = cutoffAfter(daysOf(rules, type), now) ?? Number.NEGATIVE_INFINITY;
    return cutoff === null || cutoff <= own ? [] : [[type, cutoff] as const];
  });
  return new Map(later);
}

/** Whether there is any limit. */
export function hasLimits({ events, withoutHit, ...others }: Cutoffs): boolean {
  return events.size > 0 || withoutHit.size > 0 || Object.values(others).some((cutoff) => cutoff !== null);
}

/** Whether events of every type are due up to this time (Unix milliseconds). */
export function coversEveryType({ events }: Cutoffs, until: number): boolean {
  return eventType.options.every((type) => (events.get(type) ?? Number.NEGATIVE_INFINITY) >= until);
}

/** The latest cutoff of any event type. */
export function lastCutoff({ events }: Cutoffs): Cutoff {
  return events.size === 0 ? null : Math.max(...events.values());
}

function cutoffAfter(days: number | null, now: number): Cutoff {
  return days === null ? null : now - (now % DAY_MS) - days * DAY_MS;
}

/** The rule of a type, or the default. */
function daysOf({ events }: RetentionRules, type: EventType): number | null {
  const own = events.byType[type];
  return own === undefined ? events.default : own;
}

/** Whether retention drops the partition as a whole. */
export function dropsWholeMonth(
  due: Cutoffs,
  partition: EventMonth,
  heldMonths: ReadonlySet<string>,
): boolean {
  return (
    coversEveryType(due, partition.until) && ![...heldMonths].some((month) => holdsMonth(partition, month))
  );
}

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
