import type { SensorStatus } from '@gantry/contract/sensors';
import type { Interval } from '../../platform/time.ts';

/** A stretch of time (Unix milliseconds) in which a sensor had one status. */
export interface StatusPeriod extends Interval {
  readonly status: SensorStatus;
  /** Why it got the status; null when that was before the range, or is not known. */
  readonly reason: string | null;
}

export interface StatusChange {
  readonly from: SensorStatus | null;
  readonly to: SensorStatus;
  /** Unix milliseconds. */
  readonly at: number;
  readonly reason: string;
}

export interface WatchedSensor {
  readonly status: SensorStatus;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** When it was heard of first (Unix milliseconds); null: not yet. */
  readonly firstContact: number | null;
  /** The status in which the range found it; null when it did not change before. */
  readonly before: SensorStatus | null;
  /** Its changes within the range, in order. */
  readonly changes: readonly StatusChange[];
}

/**
 * What a sensor's status was from moment to moment. It begins when the sensor was registered, if that is within the
 * interval. Before the first contact it may not be mounted yet: that it is OFFLINE then says nothing, and is left out.
 */
export function statusPeriodsOf(
  { status, createdAt, firstContact, before, changes }: WatchedSensor,
  { from, until }: Interval,
): StatusPeriod[] {
  const start = Math.max(from, createdAt);
  if (start >= until) return [];
  const spells: StatusPeriod[] = [];
  let current: Omit<StatusPeriod, 'until'> = {
    // Without a change before, it had the status that the first change found, or has it still.
    status: before ?? changes[0]?.from ?? status,
    from: start,
    reason: null,
  };
  const heardOf = firstContact ?? Number.POSITIVE_INFINITY;
  const close = (at: number): void => {
    const since = current.status === 'OFFLINE' ? Math.max(current.from, heardOf) : current.from;
    if (at > since) spells.push({ ...current, from: since, until: at });
  };
  for (const change of changes) {
    if (change.at >= until) break;
    const at = Math.max(start, change.at);
    if (change.to === current.status) continue;
    close(at);
    current = { status: change.to, from: at, reason: change.reason };
  }
  close(until);
  return spells;
}

export type Lengths = Readonly<Record<SensorStatus, number>>;

/** How long it had each status, in milliseconds. */
export function lengthsOf(spells: readonly StatusPeriod[]): Lengths {
  const sums: Record<SensorStatus, number> = { ONLINE: 0, OFFLINE: 0, ERROR: 0, MAINTENANCE: 0 };
  for (const { status, from, until } of spells) sums[status] += until - from;
  return sums;
}

/**
 * The share of time (0 to 1) in which it was ONLINE. MAINTENANCE does not count, neither for nor against it; null when
 * there was nothing else.
 */
export function availability({ ONLINE, OFFLINE, ERROR }: Lengths): number | null {
  const counted = ONLINE + OFFLINE + ERROR;
  return counted === 0 ? null : ONLINE / counted;
}
