import type { AlarmHours } from '@gantry/contract/alarm-rules';
import { DateTime } from 'luxon';
import { type Effect, isFiring, type Machine, resume, type Sample, step, type Timing } from './step.ts';
import { WHOLE_RULE } from './suppress.ts';

// From what a source observes to the alarms of a rule, without a database. Times are Unix milliseconds.

/** What an alarm is about. */
export interface About {
  /** What is wrong, as an English sentence without a full stop. */
  readonly text: string;
  readonly place: string | null;
  readonly sensorId?: string | null;
  readonly locationId?: string | null;
  readonly incidentId?: string | null;
  readonly alertId?: string | null;
  readonly plate?: string | null;
}

/** What a source knows about one key of a rule. */
export interface Observation {
  readonly key: string;
  /** Null if nothing is known. */
  readonly sample: Sample | null;
  readonly about: About;
}

/** A stored alarm that is open, or that ended within the time of flapping. */
export interface StoredAlarm {
  readonly id: string;
  readonly key: string;
  readonly state: 'PENDING' | 'FIRING' | 'CLEARED';
  readonly machine: Machine;
  readonly locationId: string | null;
}

/** What is to be done to the alarms of a rule. */
export type AlarmChange =
  | {
      readonly kind: 'OPEN';
      readonly key: string;
      readonly state: 'PENDING' | 'FIRING';
      readonly machine: Machine;
      readonly about: About;
      readonly effects: readonly Effect[];
    }
  | {
      readonly kind: 'CHANGE';
      readonly id: string;
      readonly state: StoredAlarm['state'];
      readonly machine: Machine;
      /** Null if nothing was observed. */
      readonly about: About | null;
      readonly effects: readonly Effect[];
    }
  /** The condition ended before it had held for long enough. */
  | { readonly kind: 'DROP'; readonly id: string };

/** A rule with more keys whose condition holds fires once for all of them. */
export const MAX_KEYS = 200;

/** Times for which the state machine needs no memory, in a row that must have one. */
const ENDED: Machine = {
  level: 'DOWN',
  since: 0,
  clearingSince: null,
  firedAt: null,
  value: null,
  worst: null,
  changes: [],
  isFlapping: false,
};

/**
 * The changes of the alarms of a rule.
 * @param observed what its source knows now; what is not in it does not hold
 * @param stored its open alarms, and those that ended within the time of flapping, oldest first
 * @param isResumed whether the rule was not evaluated for a while
 */
export function changesOf(
  observed: readonly Observation[],
  stored: readonly StoredAlarm[],
  timing: Timing,
  now: number,
  isResumed: boolean,
): AlarmChange[] {
  const alarms = new Map<string, StoredAlarm>();
  for (const alarm of stored) alarms.set(alarm.key, preferred(alarms.get(alarm.key), alarm));
  const found = new Map(limited(observed, alarms, now).map((each) => [each.key, each]));
  const changes: AlarmChange[] = [];
  for (const key of new Set([...alarms.keys(), ...found.keys()])) {
    const change = changeOf(key, alarms.get(key), found.get(key), timing, now, isResumed);
    if (change) changes.push(change);
  }
  return changes;
}

/** Of two alarms of a key, the open one, or else the later one. */
function preferred(other: StoredAlarm | undefined, alarm: StoredAlarm): StoredAlarm {
  return other && other.state !== 'CLEARED' ? other : alarm;
}

/** The observations, with one for the whole rule if there are too many that hold; then no further alarms open. */
function limited(
  observed: readonly Observation[],
  alarms: ReadonlyMap<string, StoredAlarm>,
  now: number,
): readonly Observation[] {
  const holding = observed.filter(({ sample }) => sample?.holds).length;
  const isTooMany = holding > MAX_KEYS;
  if (!isTooMany && alarms.get(WHOLE_RULE)?.state === undefined) return observed;
  const sample = { at: now, value: holding, holds: isTooMany, clears: !isTooMany };
  const about = { text: `The condition holds in ${holding} cases`, place: null };
  const isOpen = (key: string): boolean => (alarms.get(key)?.state ?? 'CLEARED') !== 'CLEARED';
  const kept = isTooMany ? observed.filter(({ key }) => isOpen(key)) : observed;
  return [...kept, { key: WHOLE_RULE, sample, about }];
}

function changeOf(
  key: string,
  alarm: StoredAlarm | undefined,
  found: Observation | undefined,
  timing: Timing,
  now: number,
  isResumed: boolean,
): AlarmChange | null {
  const stored = alarm?.machine ?? null;
  const before = stored && isResumed ? resume(stored) : stored;
  const sample = found ? found.sample : { at: now, value: null, holds: false, clears: true };
  const { machine, effects } = step(before, sample, timing, now);
  const state = isFiring(machine) ? 'FIRING' : machine?.level === 'RISING' ? 'PENDING' : 'CLEARED';
  if (!alarm || alarm.state === 'CLEARED') {
    if (!machine || !found || state === 'CLEARED') return null;
    return { kind: 'OPEN', key, state, machine, about: found.about, effects };
  }
  if (alarm.state === 'PENDING' && state === 'CLEARED') return { kind: 'DROP', id: alarm.id };
  const next = machine ?? ENDED;
  const isThere = !found || !mayMove(found.about) || (found.about.locationId ?? null) === alarm.locationId;
  if (effects.length === 0 && state === alarm.state && isThere && isSame(alarm.machine, next)) return null;
  return { kind: 'CHANGE', id: alarm.id, state, machine: next, about: found?.about ?? null, effects };
}

/** Whether an alarm is where its sensor or incident is now. A hit stays where the vehicle was read. */
export function mayMove({ alertId = null }: About): boolean {
  return alertId === null;
}

/** Whether two states differ in nothing that must be stored: the latest value is stored with other changes only. */
function isSame(a: Machine, b: Machine): boolean {
  return (
    a.level === b.level &&
    a.since === b.since &&
    a.clearingSince === b.clearingSince &&
    a.worst === b.worst &&
    a.isFlapping === b.isFlapping &&
    a.changes.length === b.changes.length
  );
}

/** Whether a rule is watched at a time. @param zone the time zone of the hours */
export function isInForce(hours: AlarmHours | null, at: number, zone: string): boolean {
  if (!hours) return true;
  const local = DateTime.fromMillis(at, { zone });
  const minute = local.hour * 60 + local.minute;
  const [from, until] = [minuteOf(hours.from), minuteOf(hours.until)];
  const today = local.weekday;
  const yesterday = today === 1 ? 7 : today - 1;
  if (from < until) return hours.days.includes(today) && minute >= from && minute < until;
  return hours.days.includes(minute >= from ? today : minute < until ? yesterday : 0);
}

function minuteOf(time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return hour * 60 + minute;
}
