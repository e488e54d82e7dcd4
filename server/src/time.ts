import { isPlainDate } from '@gantry/contract/time';
import { DateTime } from 'luxon';

/** A range of time in Unix milliseconds: `from` inclusive, `until` exclusive. */
export interface Interval {
  readonly from: number;
  readonly until: number;
}

const HAS_OFFSET = /(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * The moment (Unix milliseconds) that an ISO text stands for; without an offset it is local to `zone`.
 * A local time that daylight saving skips is moved forward by the gap; of one that occurs twice the first is meant.
 */
export const resolveTime = (iso: string, zone: string): number => {
  const text = iso.toUpperCase().replace(' ', 'T').replace(',', '.');
  if (HAS_OFFSET.test(text) && !isPlainDate(text)) return Date.parse(text);
  return DateTime.fromISO(text, { zone }).toMillis();
};

const endOf = (iso: string, zone: string): number =>
  isPlainDate(iso)
    ? DateTime.fromISO(iso, { zone }).plus({ days: 1 }).toMillis()
    : resolveTime(iso, zone) + 1;

/** Resolves a range as clients give it: both bounds inclusive, a plain end date being the whole of that day. */
export const resolveInterval = (
  range: { startDate?: string | undefined; endDate?: string | undefined },
  zone: string,
): Interval => ({
  from: range.startDate === undefined ? Number.NEGATIVE_INFINITY : resolveTime(range.startDate, zone),
  until: range.endDate === undefined ? Number.POSITIVE_INFINITY : endOf(range.endDate, zone),
});
