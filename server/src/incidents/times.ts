import {
  codeOfTime,
  type IncidentTime,
  incidentTimes,
  settableTimes,
} from '@gantry/contract/incident-states';

// The times of an incident. Those that people set precede those that follow from other records, and all are in order.

/** Times in Unix milliseconds; a missing one is not known. */
export type Times = { readonly [Time in IncidentTime]?: number };

/** Times that follow from other records but are not taken, because they contradict a time that precedes them. */
export type Conflicts = {
  readonly [Time in IncidentTime]?: { readonly at: number; readonly other: IncidentTime };
};

const meanings: Readonly<Record<IncidentTime, string>> = {
  occurredAt: 'occurred',
  openedAt: 'opened',
  verifiedAt: 'verified',
  dispatchedAt: 'responders dispatched',
  arrivedAt: 'responders arrived',
  lanesOpenAt: 'all lanes open',
  lastLeftAt: 'last responder left',
  normalAt: 'traffic normal again',
};

/** A time as errors name it: "T5 (all lanes open, 2026-01-31T08:15:00.000Z)". */
export function nameOfTime(name: IncidentTime, at: number): string {
  return `${codeOfTime(name)} (${meanings[name]}, ${new Date(at).toISOString()})`;
}

/** Two times in the wrong order: the first should not be after the second. */
export interface WrongOrder {
  readonly first: IncidentTime;
  readonly second: IncidentTime;
  readonly message: string;
}

/** The first two known times that are in the wrong order; null if all are in order. Equal times are in order. */
export function findWrongOrder(times: Times): WrongOrder | null {
  let before: { name: IncidentTime; at: number } | null = null;
  for (const name of incidentTimes) {
    const at = times[name];
    if (at === undefined) continue;
    if (before && before.at > at)
      return { first: before.name, second: name, message: wrongOrder(before.name, before.at, name, at) };
    before = { name, at };
  }
  return null;
}

function wrongOrder(first: IncidentTime, firstAt: number, second: IncidentTime, secondAt: number): string {
  return `${nameOfTime(second, secondAt)} is before ${nameOfTime(first, firstAt)}`;
}

/**
 * Adds derived times to those that are set, in their order, each if it is in order with all that are there.
 * @param set in order, with `openedAt`
 */
export function settleTimes(
  set: Times,
  derived: Times,
): { readonly times: Times; readonly conflicts: Conflicts } {
  const times: { -readonly [Time in IncidentTime]?: number } = { ...set };
  const conflicts: { -readonly [Time in IncidentTime]?: Conflicts[Time] } = {};
  for (const name of settableTimes) {
    const at = derived[name];
    if (at === undefined || times[name] !== undefined) continue;
    const wrong = findWrongOrder({ ...times, [name]: at });
    if (wrong) conflicts[name] = { at, other: wrong.first === name ? wrong.second : wrong.first };
    else times[name] = at;
  }
  return { times, conflicts };
}

/** Seconds from the opening until a time; null if it is not known. */
export function secondsSinceOpening(times: Times, until: IncidentTime): number | null {
  const [from, at] = [times.openedAt, times[until]];
  return from === undefined || at === undefined ? null : (at - from) / 1000;
}

/** The times of a unit at an incident, in Unix milliseconds; null while they are not known. */
export interface UnitTimes {
  readonly dispatchedAt: number | null;
  readonly arrivedAt: number | null;
  readonly leftAt: number | null;
}

/**
 * The times that follow from those of units: T3 and T4 are those of the first, T6 is that of the last, once all that
 * arrived have left.
 */
export function timesOfUnits(units: readonly UnitTimes[]): Times {
  const known = (name: keyof UnitTimes) => units.flatMap((unit) => unit[name] ?? []);
  const [dispatched, arrived, left] = [known('dispatchedAt'), known('arrivedAt'), known('leftAt')];
  const isAnyThere = units.some(({ arrivedAt, leftAt }) => arrivedAt !== null && leftAt === null);
  return {
    ...(dispatched.length > 0 && { dispatchedAt: Math.min(...dispatched) }),
    ...(arrived.length > 0 && { arrivedAt: Math.min(...arrived) }),
    ...(left.length > 0 && !isAnyThere && { lastLeftAt: Math.max(...left) }),
  };
}

/** How the lanes of a carriageway are from a time on (Unix milliseconds). */
export interface Lanes {
  readonly direction: string;
  readonly lanes: readonly string[];
  readonly at: number;
}

/**
 * Since when all lanes are open that were not: the time of the change that opened the last one. Undefined if a lane is
 * not open, or none was closed. Shoulders do not count.
 * @param history in the order in which it was entered
 */
export function lanesOpenSince(history: readonly Lanes[]): number | undefined {
  const blocked = new Set<string>();
  let since: number | undefined;
  for (const { direction, lanes, at } of history) {
    if (lanes.some((state) => state !== 'OPEN')) {
      blocked.add(direction);
      since = undefined;
    } else if (blocked.delete(direction) && blocked.size === 0) since = at;
  }
  return since;
}
