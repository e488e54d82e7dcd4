import type { SensorStatus } from '@gantry/contract/sensors';
import type { Interval } from '../../platform/time.ts';

/** A period (Unix milliseconds) in which a sensor had one status. */
export interface StatusPeriod extends Interval {
  readonly status: SensorStatus;
  /** The reason for the status; null when it began before the range, or is unknown. */
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
  /** The first contact (Unix milliseconds); null for none. */
  readonly firstContact: number | null;
  /** The status at the start of the range; null when there is no earlier change. */
  readonly before: SensorStatus | null;
  /** Its changes within the range, in order. */
  readonly changes: readonly StatusChange[];
}

/**
 * The periods of a sensor's status. They begin when the sensor was registered, if that is within the interval. A
 * sensor may not be mounted before its first contact, so being OFFLINE until then means nothing and is left out.
 */
export function statusPeriodsOf(
  { status, createdAt, firstContact, before, changes }: WatchedSensor,
  { from, until }: Interval,
): StatusPeriod[] {
  const start = Math.max(from, createdAt);
  if (start >= until) return [];
  const periods: StatusPeriod[] = [];
  let current: Omit<StatusPeriod, 'until'> = {
    // Without an earlier change it had the status before the first change, or still has its present one.
    status: before ?? changes[0]?.from ?? status,
    from: start,
    reason: null,
  };
  const heardOf = firstContact ?? Number.POSITIVE_INFINITY;
  const close = (at: number): void => {
    const since = current.status === 'OFFLINE' ? Math.max(current.from, heardOf) : current.from;
    if (at > since) periods.push({ ...current, from: since, until: at });
  };
  for (const change of changes) {
    if (change.at >= until) break;
    const at = Math.max(start, change.at);
    if (change.to === current.status) continue;
    close(at);
    current = { status: change.to, from: at, reason: change.reason };
  }
  close(until);
  return periods;
}

export type Lengths = Readonly<Record<SensorStatus, number>>;

/** The total time in each status, in milliseconds. */
export function lengthsOf(periods: readonly StatusPeriod[]): Lengths {
  const sums: Record<SensorStatus, number> = { ONLINE: 0, OFFLINE: 0, ERROR: 0, MAINTENANCE: 0 };
  for (const { status, from, until } of periods) sums[status] += until - from;
  return sums;
}

/**
 * The time in any status, in milliseconds. It is shorter than the time from the first to the last period if the sensor
 * was in maintenance before its first contact and OFFLINE in between.
 */
export function durationOf({ ONLINE, OFFLINE, ERROR, MAINTENANCE }: Lengths): number {
  return ONLINE + OFFLINE + ERROR + MAINTENANCE;
}

/** The fraction of time (0 to 1) in which it was ONLINE, excluding MAINTENANCE; null when there was no other time. */
export function availability({ ONLINE, OFFLINE, ERROR }: Lengths): number | null {
  const counted = ONLINE + OFFLINE + ERROR;
  return counted === 0 ? null : ONLINE / counted;
}
