import { DAY_MS } from '@gantry/contract/durations';
import { type EventType, eventType } from '@gantry/contract/events';
import type { RetentionRules } from '@gantry/contract/storage';

/** The time (Unix milliseconds, a midnight in UTC) before which records are due for removal; null for never. */
type Cutoff = number | null;

/** The records that are due. */
export interface Cutoffs {
  readonly events: ReadonlyMap<EventType, number>;
  readonly images: Cutoff;
  readonly reports: Cutoff;
  readonly activity: Cutoff;
  readonly traffic: Cutoff;
}

/**
 * The cutoffs that follow from the rules at a time. They are whole days in UTC, so that the result is the same all
 * day and a preview matches the run.
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

/** Whether there is any limit. */
export function hasLimits({ events, images, reports, activity, traffic }: Cutoffs): boolean {
  return events.size > 0 || [images, reports, activity, traffic].some((cutoff) => cutoff !== null);
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
