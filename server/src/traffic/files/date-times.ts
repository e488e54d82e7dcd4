import { isPeriodLength } from '@gantry/contract/counts';
import { MINUTE_MS } from '@gantry/contract/durations';
import { isIsoTime } from '@gantry/contract/time';
import { invalidInput } from '../../platform/error.ts';
import { isLocalTime, momentsShowing, resolveTime } from '../../platform/time.ts';

// The dates and times of files, which people and detectors wrote for people.

const DAY_SECONDS = 86_400;

/** The order of day, month and year in dates. */
export type DateOrder = 'YMD' | 'DMY' | 'MDY';

/** What a file says of the time of a row, as it was written. */
export interface WrittenTime {
  /** A date, or a date with the time. */
  readonly date: string;
  readonly time: string | null;
  /** The end of the interval, if the file says both. */
  readonly until: string | null;
}

const DATE = /^(\d{1,4})[-./](\d{1,2})[-./](\d{1,4})$/;
const CLOCK = /^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?: ?([ap])\.? ?m\.?)?$/i;
const HHMM = /^(\d{1,2})(\d{2})$/;
const BETWEEN = /-|–|—|\bto\b|\bbis\b/i;

/** The parts of a time of day such as `08:00-08:15`, or null. */
export function rangeIn(text: string): readonly [from: string, until: string] | null {
  const [from = '', until = '', ...others] = text.split(BETWEEN).map((part) => part.trim());
  return others.length === 0 && secondsOf(from) !== null && secondsOf(until) !== null ? [from, until] : null;
}

/** The seconds since midnight, up to 24:00; null if the text is no time of day. */
function secondsOf(text: string): number | null {
  const [, hours, minutes, seconds = '0', half] = CLOCK.exec(text) ?? HHMM.exec(text) ?? [];
  if (hours === undefined) return null;
  const isHalf = half !== undefined && /[ap]/i.test(half);
  if (isHalf && !(Number(hours) >= 1 && Number(hours) <= 12)) return null;
  const hour = isHalf ? (Number(hours) % 12) + (/p/i.test(half) ? 12 : 0) : Number(hours);
  const sum = hour * 3_600 + Number(minutes) * 60 + Number(seconds);
  return Number(minutes) < 60 && Number(seconds) < 60 && sum <= DAY_SECONDS ? sum : null;
}

/** The date and the time of day in a text that may contain both. */
function divided({ date, time }: WrittenTime): { date: string; time: string } {
  if (time !== null) return { date, time };
  const at = date.search(/[T ]/);
  return at <= 0 ? { date, time: '00:00' } : { date: date.slice(0, at), time: date.slice(at + 1).trim() };
}

/**
 * The order of the dates in a file, by those that can be read in only one way. It is never assumed.
 * @throws AppError `badRequest` if no date shows it, or two contradict each other
 */
export function dateOrderOf(times: readonly WrittenTime[]): DateOrder {
  const found = new Map<DateOrder, string>();
  let doubtful: string | undefined;
  for (const written of times) {
    const { date } = divided(written);
    const [, first = '', second = ''] = DATE.exec(date) ?? [];
    if (first.length === 4 || first === '') continue;
    if (Number(first) > 12) found.set('DMY', date);
    else if (Number(second) > 12) found.set('MDY', date);
    else if (first !== second) doubtful ??= date;
  }
  const [order, other] = found.keys();
  if (other !== undefined)
    throw invalidInput(
      'dateOrder',
      `The dates of the file contradict each other: ${[...found.values()].join(' has the day first, and ')} has not. Say which order is right with dateOrder`,
    );
  if (order === undefined && doubtful !== undefined)
    throw invalidInput(
      'dateOrder',
      `Dates such as ${doubtful} may begin with the day or the month, and no date of the file shows which: send dateOrder DMY or MDY`,
    );
  return order ?? 'YMD';
}

/** A time of a row: on the clock, as the same reading in UTC in Unix milliseconds, or a moment if it has an offset. */
export type RowTime = { readonly local: number } | { readonly moment: number };

/** The time that was written; a text says why it cannot be read. */
export function timeOf(written: WrittenTime, order: DateOrder): RowTime | string {
  if (written.time === null && isIsoTime(written.date) && !isLocalTime(written.date))
    return { moment: resolveTime(written.date, 'UTC') };
  const { date, time } = divided(written);
  const midnight = midnightOf(date, order);
  if (midnight === null)
    return `The date ${JSON.stringify(date.slice(0, 50))} cannot be read: use YYYY-MM-DD, or four digits for the year with dateOrder DMY or MDY`;
  const seconds = secondsOf(time);
  if (seconds === null)
    return `The time ${JSON.stringify(time.slice(0, 50))} cannot be read: use HH:MM, such as 08:15`;
  return { local: midnight + seconds * 1_000 };
}

function midnightOf(date: string, order: DateOrder): number | null {
  const parts = DATE.exec(date)?.slice(1) ?? [];
  const years = parts[0]?.length === 4 ? 'YMD' : order;
  const part = (letter: string): string => parts[years.indexOf(letter)] ?? '';
  if (part('Y').length !== 4 || part('M').length > 2 || part('D').length > 2) return null;
  const [month, day] = [Number(part('M')), Number(part('D'))];
  const midnight = Date.UTC(Number(part('Y')), month - 1, day);
  const read = new Date(midnight);
  return read.getUTCMonth() === month - 1 && read.getUTCDate() === day ? midnight : null;
}

/** The seconds between two times of day, which may follow dates: from the first one until a clock next shows the second. */
export function secondsBetween(from: string, until: string): number | null {
  const [start, end] = [from, until].map(
    (text) => secondsOf(text) ?? secondsOf(divided({ date: text, time: null, until: null }).time),
  );
  if (start == null || end == null) return null;
  return (end - start + DAY_SECONDS) % DAY_SECONDS || DAY_SECONDS;
}

/**
 * The usual distance of successive times, in seconds.
 * @param sequences the times of each direction, lane or class in the order of the file
 * @throws AppError `badRequest` if there is none, or it is no length of an interval
 */
export function usualDistance(sequences: Iterable<readonly RowTime[]>): number {
  const counts = new Map<number, number>();
  for (const times of sequences) {
    const values = times.map((time) => ('local' in time ? time.local : time.moment));
    for (const [n, value] of values.slice(1).entries()) {
      const distance = Math.abs(value - (values[n] ?? value)) / 1_000;
      if (distance > 0) counts.set(distance, (counts.get(distance) ?? 0) + 1);
    }
  }
  const [usual] = [...counts].sort(([a, many], [b, few]) => few - many || a - b);
  if (!usual)
    throw invalidInput('seconds', 'The file does not show how long its intervals are: send seconds');
  if (!isPeriodLength(usual[0]))
    throw invalidInput(
      'seconds',
      `The rows are ${usual[0]} s apart, which does not divide a day: send seconds, such as 900`,
    );
  return usual[0];
}

/** How the times of a file name its intervals. */
export interface Labels {
  readonly zone: string;
  readonly binLabel: 'START' | 'END';
  readonly seconds: number;
}

/**
 * Makes a function that finds the starts of intervals, in Unix milliseconds, or says why there is none. Of a time that occurs
 * twice, because clocks are set back, it takes the first one that is after the previous interval of the same sequence.
 */
export function createStarts({ zone, binLabel, seconds }: Labels) {
  const length = seconds * 1_000;
  const previous = new Map<string, number>();
  const startsOf = (time: RowTime): number[] => {
    if ('moment' in time) return [binLabel === 'END' ? time.moment - length : time.moment];
    if (binLabel === 'START') return momentsShowing(time.local, zone);
    // The end of the interval before the clocks change is written as one or the other.
    const ends = momentsShowing(time.local, zone).map((end) => end - length);
    return [...new Set([...ends, ...momentsShowing(time.local - length, zone)])].sort((a, b) => a - b);
  };
  return (time: RowTime, sequence: string): number | string => {
    const starts = startsOf(time);
    const [first] = starts;
    if (first === undefined)
      return `There is no ${clockText(time)} in ${zone}, because the clocks are set forward over it: write times with an offset, or of the zone in which they were recorded`;
    const after = previous.get(sequence) ?? Number.NEGATIVE_INFINITY;
    const start = starts.find((each) => each > after) ?? first;
    previous.set(sequence, start);
    return start;
  };
}

function clockText(time: RowTime): string {
  const at = 'local' in time ? time.local : time.moment;
  return new Date(at)
    .toISOString()
    .slice(0, at % MINUTE_MS === 0 ? 16 : 19)
    .replace('T', ' ');
}
