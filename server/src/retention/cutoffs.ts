import { type EventType, eventType } from '@gantry/contract/events';
import type { RetentionRules } from '@gantry/contract/storage';

const DAY_MS = 86_400_000;

/** Before which moment (Unix milliseconds, a midnight in UTC) things are due to be removed; null: never. */
type Cutoff = number | null;

/** What is due. */
export interface Cutoffs {
  readonly events: ReadonlyMap<EventType, number>;
  readonly images: Cutoff;
  readonly reports: Cutoff;
  readonly activity: Cutoff;
  readonly traffic: Cutoff;
}

/**
 * What the rules make due at a moment. Whole days of UTC, so that the same things are due all day long, and what is shown
 * beforehand is what happens.
 */
export function cutoffsOf(rules: RetentionRules, now: number): Cutoffs {
  return {
    events: new Map(
      eventType.options.flatMap((type) => {
        const cutoff = cutoffAfter(daysOf(rules, type), now);
        return cutoff === null ? [] : [[type, cutoff] as const];
      }),
    ),
    images: cutoffAfter(rules.images, now),
    reports: cutoffAfter(rules.reports, now),
    activity: cutoffAfter(rules.activity, now),
    traffic: cutoffAfter(rules.traffic, now),
  };
}

/** Whether anything is limited at all. */
export function hasLimits({ events, images, reports, activity, traffic }: Cutoffs): boolean {
  return events.size > 0 || [images, reports, activity, traffic].some((cutoff) => cutoff !== null);
}

/** Whether events of every type are due up to this moment (Unix milliseconds). */
export function coversEveryType({ events }: Cutoffs, until: number): boolean {
  return eventType.options.every((type) => (events.get(type) ?? Number.NEGATIVE_INFINITY) >= until);
}

/** The latest moment before which events of some type are due. */
export function lastCutoff({ events }: Cutoffs): Cutoff {
  return events.size === 0 ? null : Math.max(...events.values());
}

function cutoffAfter(days: number | null, now: number): Cutoff {
  return days === null ? null : now - (now % DAY_MS) - days * DAY_MS;
}

/** Names a type that has a rule of its own, or follows the default. */
function daysOf({ events }: RetentionRules, type: EventType): number | null {
  const own = events.byType[type];
  return own === undefined ? events.default : own;
}
