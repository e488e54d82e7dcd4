import { DAY_MS, MINUTE_MS } from '@gantry/contract/durations';
import type { RotaHours } from '@gantry/contract/rotas';
import { addDays, hoursOn, type Interval, offsetsOf, weekdayOf } from '../platform/time.ts';

// When works are in force, and what is due at a time, as pure functions.

/** When works are in force: always from start to end, or at hours in between. Unix milliseconds. */
export interface Schedule {
  readonly startsAt: number;
  /** Exclusive. */
  readonly endsAt: number;
  readonly timezone: string;
  readonly recurrence: RotaHours | null;
}

/** The windows that end after a time, in order. */
export function* windowsAfter(schedule: Schedule, after: number): Generator<Interval> {
  const { startsAt, endsAt, timezone, recurrence } = schedule;
  if (recurrence === null) {
    if (endsAt > after) yield { from: startsAt, until: endsAt };
    return;
  }
  // Hours that began the day before may still last.
  const last = localDay(endsAt, timezone);
  for (
    let day = addDays(localDay(Math.max(after, startsAt), timezone), -1);
    day <= last;
    day = addDays(day, 1)
  ) {
    if (!recurrence.weekdays.includes(weekdayOf(day))) continue;
    const hours = hoursOn(recurrence, day, timezone);
    const window = { from: Math.max(hours.from, startsAt), until: Math.min(hours.until, endsAt) };
    if (window.from < window.until && window.until > after) yield window;
  }
}

/** The first window that ends after a time; null if there is none. */
export function windowAfter(schedule: Schedule, after: number): Interval | null {
  const { value } = windowsAfter(schedule, after).next();
  return value ?? null;
}

function localDay(at: number, zone: string): string {
  return new Date(at + offsetsOf(zone)(at) * MINUTE_MS).toISOString().slice(0, 10);
}

/** Hours recur every week, so that works that are not in force together within two weeks never are, but for changes of clocks. */
const HORIZON_MS = 15 * DAY_MS;

/** The first time after a time at which both are in force; null if there is none soon after both have started. */
export function firstOverlap(one: Schedule, other: Schedule, after: number): Interval | null {
  const since = Math.max(after, one.startsAt, other.startsAt);
  const [mine, theirs] = [windowsAfter(one, since), windowsAfter(other, since)];
  let [a, b] = [mine.next().value, theirs.next().value];
  while (a && b) {
    const common = { from: Math.max(a.from, b.from, after), until: Math.min(a.until, b.until) };
    if (common.from < common.until) return common;
    if (Math.min(a.from, b.from) > since + HORIZON_MS) return null;
    if (a.until <= b.until) a = mine.next().value;
    else b = theirs.next().value;
  }
  return null;
}

/** Works whose turn may have come. */
export interface Turning extends Schedule {
  readonly state: 'APPROVED' | 'ACTIVE';
  /** The window in force, or the next one. */
  readonly window: Interval;
}

/** What the clock brings about. */
export interface Turn {
  readonly action: 'begin' | 'pause' | 'miss' | 'end';
  /** Windows that passed without having started. */
  readonly missed: readonly Interval[];
  /** The window that begins, or the next one; null if none follows. */
  readonly next: Interval | null;
}

/**
 * What is due at a time; null if nothing is. A window that began ends once, however late; one that passed before it
 * could begin is missed, because nothing can be done on a road afterwards.
 */
export function turnAt(works: Turning, now: number): Turn | null {
  const { state, window } = works;
  if (state === 'ACTIVE') {
    if (now < window.until) return null;
    const next = windowAfter(works, window.until);
    return { action: next ? 'pause' : 'end', missed: [], next };
  }
  if (now < window.from) return null;
  if (now < window.until) return { action: 'begin', missed: [], next: window };
  const missed = [window];
  for (const each of windowsAfter(works, window.until)) {
    if (each.until > now) return { action: 'miss', missed, next: each };
    missed.push(each);
  }
  return { action: 'end', missed, next: null };
}
