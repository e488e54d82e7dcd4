import { DAY_MS, MINUTE_MS } from '@gantry/contract/durations';
import { isPlainDate, MAX_RANGE_YEARS } from '@gantry/contract/time';
import { DateTime, IANAZone } from 'luxon';
import { invalidInput } from './error.ts';

/** A range of time in Unix milliseconds: `from` inclusive, `until` exclusive. */
export interface Interval {
  readonly from: number;
  readonly until: number;
}

/** All of time. */
export const ENDLESS: Interval = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

/** The length of the slots in which traffic is counted, in milliseconds. */
export const SLOT_MS = 300_000;

/** The beginning of the slot that contains a time, both in Unix milliseconds. */
export function slotOf(time: number): number {
  return Math.floor(time / SLOT_MS) * SLOT_MS;
}

/** The bounds of the years 1 to 9999: PostgreSQL does not read other years in the form in which JavaScript writes them. */
const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

const HAS_OFFSET = /(?:Z|[+-]\d{2}:\d{2})$/;

/** Whether the time that an ISO text denotes depends on the time zone. */
export function isLocalTime(iso: string): boolean {
  return isPlainDate(iso) || !HAS_OFFSET.test(normalize(iso));
}

/**
 * The time (Unix milliseconds) that an ISO text denotes; without an offset it is local to `zone`. A local time
 * skipped by daylight saving is moved forward by the gap; of one that occurs twice, the first is meant. A time that is
 * not within the years 1 to 9999 in UTC becomes the nearest one that is.
 */
export function resolveTime(iso: string, zone: string): number {
  if (isPlainDate(iso)) return withinYears(momentOf(Date.parse(iso), zone));
  const text = normalize(iso);
  return withinYears(HAS_OFFSET.test(text) ? Date.parse(text) : momentOf(Date.parse(`${text}Z`), zone));
}

/** Clocks differ by less than this, in milliseconds: something may have happened so far ahead. */
const JUST_NOW_MS = MINUTE_MS;

/**
 * When something happened that is written down afterwards, in Unix milliseconds.
 * @param maxDays how many days ago it may have happened
 * @throws AppError `badRequest` in the future, or too long ago
 */
export function resolvePast(
  field: string,
  iso: string,
  { zone, now, maxDays }: { readonly zone: string; readonly now: number; readonly maxDays: number },
): number {
  const at = resolveTime(iso, zone);
  if (at > now + JUST_NOW_MS)
    throw invalidInput(field, 'This time is in the future: give the one at which it happened');
  if (at < now - maxDays * DAY_MS)
    throw invalidInput(
      field,
      `Things are written down at most ${maxDays} days later: say in the text when it happened, and leave out this time`,
    );
  return Math.min(at, now);
}

const TO_THE_MINUTE = /[T ]\d{2}:\d{2}(?:Z|[+\-\u2212]\d{2}(?::?\d{2})?)?$/i;
const HAS_FRACTION = /[.,]\d/;

/**
 * Resolves a range as given by clients: both bounds are inclusive, and the end includes all of the day, minute or
 * second that it names.
 * @throws AppError `badRequest` when it ends before it starts
 */
export function resolveInterval(
  range: { startDate?: string | undefined; endDate?: string | undefined },
  zone: string,
): Interval {
  const from = range.startDate === undefined ? Number.NEGATIVE_INFINITY : resolveTime(range.startDate, zone);
  const until = range.endDate === undefined ? Number.POSITIVE_INFINITY : endOf(range.endDate, zone);
  // A day that the zone skipped is an empty range, not a reversed one.
  if (range.endDate !== undefined && from >= until && from > resolveTime(range.endDate, zone)) {
    throw invalidInput('endDate', 'The end is before the start: swap startDate and endDate');
  }
  return { from, until };
}

/** The nearest time within the years 1 to 9999 in UTC. */
export function withinYears(moment: number): number {
  return Math.min(Math.max(moment, EARLIEST), LATEST);
}

/** The text in the form for Date.parse: `T` before the time, a dot before the fraction, hours and minutes in the offset. */
function normalize(iso: string): string {
  return iso
    .toUpperCase()
    .replace(' ', 'T')
    .replace(',', '.')
    .replace('\u2212', '-')
    .replace(/(:[\d.]*[+-]\d{2})(?::?(\d{2}))?$/, (_, hours, minutes = '00') => `${hours}:${minutes}`);
}

/** Whether an ISO text without an offset denotes two times, because clocks in the zone were set back between them. */
export function occursTwice(iso: string, zone: string): boolean {
  if (!isLocalTime(iso) || isPlainDate(iso)) return false;
  const local = Date.parse(`${normalize(iso)}Z`);
  return momentsShowing(local, zone).length > 1;
}

/**
 * The times (Unix milliseconds) at which clocks in a zone show `local`, the same reading in UTC: none if they are set
 * forward over it, two if they are set back, in order.
 */
export function momentsShowing(local: number, zone: string): number[] {
  return momentsOf(local, zone).sort((a, b) => a - b);
}

/**
 * The time at which clocks in the zone show `local` (the same reading in UTC, in Unix milliseconds). No zone changes
 * its clocks twice within two days, so the offsets a day before and after are the only candidates.
 */
function momentOf(local: number, zone: string): number {
  const showing = momentsOf(local, zone);
  return showing.length > 0 ? Math.min(...showing) : local - offsetsOf(zone)(local - DAY_MS) * MINUTE_MS;
}

/** The times at which clocks in the zone show `local`: none, one, or two. */
function momentsOf(local: number, zone: string): number[] {
  const offsetAt = offsetsOf(zone);
  const before = local - offsetAt(local - DAY_MS) * MINUTE_MS;
  const after = local - offsetAt(local + DAY_MS) * MINUTE_MS;
  const found = before === after ? [before] : [before, after];
  return found.filter((moment) => moment + offsetAt(moment) * MINUTE_MS === local);
}

/** The offsets of a day in UTC. */
interface OffsetsOfDay {
  readonly first: number;
  readonly last: number;
  /** The time of the change from the first to the last one. */
  readonly changeAt: number;
}

/** Maximum number of days whose offsets are kept: those of ten years. */
const MAX_DAYS_KEPT = 3_660;

/** Maximum number of zones whose offsets are kept. */
const MAX_ZONES_KEPT = 16;

const keptZones = new Map<string, (moment: number) => number>();

/**
 * How far clocks in a zone are ahead of UTC, in minutes, by time (Unix milliseconds). Asking for an offset takes some ten
 * microseconds, and a year has many hours, so those of days are kept.
 */
export function offsetsOf(zone: string): (moment: number) => number {
  const kept = keptZones.get(zone);
  if (kept) return kept;
  if (keptZones.size >= MAX_ZONES_KEPT) keptZones.clear();
  const offsetAt = createOffsets(IANAZone.create(zone));
  keptZones.set(zone, offsetAt);
  return offsetAt;
}

function createOffsets(zone: IANAZone): (moment: number) => number {
  const days = new Map<number, OffsetsOfDay>();
  return (moment) => {
    const day = Math.floor(moment / DAY_MS);
    let known = days.get(day);
    if (known === undefined) {
      if (days.size >= MAX_DAYS_KEPT) days.clear();
      known = offsetsOfDay(day * DAY_MS, zone);
      days.set(day, known);
    }
    return moment < known.changeAt ? known.first : known.last;
  };
}

/** No zone changes its clocks twice within a day. */
function offsetsOfDay(from: number, zone: IANAZone): OffsetsOfDay {
  const [first, last] = [zone.offset(from), zone.offset(from + DAY_MS - 1)];
  if (first === last) return { first, last, changeAt: from };
  let [before, changeAt] = [from, from + DAY_MS - 1];
  while (changeAt - before > 1) {
    const middle = Math.floor((before + changeAt) / 2);
    if (zone.offset(middle) === first) before = middle;
    else changeAt = middle;
  }
  return { first, last, changeAt };
}

/** The duration of what the text names: a minute, a second or, with a fraction, a millisecond. */
function lengthOf(iso: string): number {
  if (TO_THE_MINUTE.test(iso)) return 60_000;
  return HAS_FRACTION.test(iso) ? 1 : 1_000;
}

function endOf(iso: string, zone: string): number {
  return withinYears(
    isPlainDate(iso) ? momentOf(Date.parse(iso) + DAY_MS, zone) : resolveTime(iso, zone) + lengthOf(iso),
  );
}

/** PostgreSQL and JavaScript write times before this one in the same way. */
const RANGE_LIMIT = Date.UTC(9000, 0);

/**
 * Resolves the range of a report or of figures.
 * @throws AppError `badRequest` when it ends before it starts, is longer than five years, begins before 1970 or ends in
 * the year 9000 or later
 */
export function requireRange(range: { startDate: string; endDate: string }, zone: string): Interval {
  const { from, until } = resolveInterval(range, zone);
  if (from < 0) throw invalidInput('startDate', 'Nothing is older than 1970: choose a later startDate');
  if (until > RANGE_LIMIT) throw invalidInput('endDate', 'Choose an endDate before the year 9000');
  const longest = DateTime.fromMillis(from, { zone }).plus({ years: MAX_RANGE_YEARS, days: 1 }).toMillis();
  if (until > longest)
    throw invalidInput(
      'endDate',
      `A range covers at most ${MAX_RANGE_YEARS} years: choose an earlier endDate`,
    );
  return { from, until };
}

/** A day of the local calendar as YYYY-MM-DD, with its beginning and end. */
export interface LocalDay extends Interval {
  readonly day: string;
}

/** The local days of an interval, in order; the first and the last may be partial. */
export function* localDays(interval: Interval, zone: string): Generator<LocalDay> {
  for (const { day, from, until } of wholeDays(interval, zone)) {
    const part = { from: Math.max(interval.from, from), until: Math.min(interval.until, until) };
    if (part.from < part.until) yield { day, ...part };
  }
}

/**
 * The starts of the local days that overlap an interval, and the end of the last one. A day on which clocks change does
 * not have 24 hours.
 */
export function dayBounds(interval: Interval, zone: string): number[] {
  const bounds = [resolveTime(dayOf(interval.from, zone), zone)];
  for (const { until } of wholeDays(interval, zone)) bounds.push(until);
  return bounds;
}

/**
 * The starts of the local weeks that overlap an interval, and the end of the last one.
 * @param firstDay the first day of the week, from 0 (Sunday) to 6 (Saturday)
 */
export function weekBounds({ from, until }: Interval, zone: string, firstDay: number): number[] {
  const day = dayOf(from, zone);
  let start = addDays(day, -((new Date(day).getUTCDay() - firstDay + 7) % 7));
  const bounds = [resolveTime(start, zone)];
  while ((bounds.at(-1) ?? until) < until) {
    start = addDays(start, 7);
    bounds.push(resolveTime(start, zone));
  }
  return bounds;
}

/** A month of the local calendar. It may begin at 01:00. @param month from 1 */
export function monthOf(year: number, month: number, zone: string): Interval {
  const startOf = (number: number): number =>
    resolveTime(new Date(Date.UTC(year, number - 1)).toISOString().slice(0, 10), zone);
  return { from: startOf(month), until: startOf(month + 1) };
}

/** The calendar day that is so many days after another one; both as YYYY-MM-DD. */
export function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10);
}

/** The day of the week of a calendar day: 1 = Monday … 7 = Sunday. */
export function weekdayOf(day: string): number {
  return new Date(day).getUTCDay() || 7;
}

/** Hours of the day as clocks show them; until the next day if the end is not after the start. */
export interface HoursOfDay {
  /** HH:MM */
  readonly from: string;
  readonly until: string;
}

/**
 * The hours that begin on a day. A time that clocks skip is as much later as they are set forward; of one that occurs twice,
 * the first counts. If a start that is later for this reason would not be before the end, the hours keep their length, so
 * that there are hours on every day.
 */
export function hoursOn({ from, until }: HoursOfDay, day: string, zone: string): Interval {
  const lastDay = until <= from ? addDays(day, 1) : day;
  const [first, last] = [`${day}T${from}`, `${lastDay}T${until}`];
  const start = resolveTime(first, zone);
  const end = resolveTime(last, zone);
  const length = Date.parse(`${last}Z`) - Date.parse(`${first}Z`);
  return { from: start, until: end > start ? end : start + length };
}

/** The local day of a time (Unix milliseconds), as YYYY-MM-DD. */
export function dayOf(moment: number, zone: string): string {
  return DateTime.fromMillis(moment, { zone }).toFormat('yyyy-MM-dd');
}

/** The time at which clocks show an hour of a day (YYYY-MM-DD), as `resolveTime` has it. @param hour from 0 to 23 */
export function atHour(day: string, hour: number, zone: string): number {
  return resolveTime(`${day}T${String(hour).padStart(2, '0')}:00`, zone);
}

/**
 * The previous and the next time (Unix milliseconds) at which something is due that is done every day at an hour: later if
 * clocks skip it, and once if they repeat it.
 */
export function dailyAt(hour: number, now: number, zone: string): { last: number; next: number } {
  const dueOn = (day: string): number => atHour(day, hour, zone);
  const today = dayOf(now, zone);
  const last = dueOn(today) <= now ? today : addDays(today, -1);
  return { last: dueOn(last), next: dueOn(addDays(last, 1)) };
}

/** The whole days that overlap an interval. A day that the zone skipped is left out. */
function* wholeDays({ from, until }: Interval, zone: string): Generator<LocalDay> {
  let day = dayOf(from, zone);
  for (let start = resolveTime(day, zone); start < until; ) {
    const next = addDays(day, 1);
    const end = resolveTime(next, zone);
    if (start < end) yield { day, from: start, until: end };
    day = next;
    start = end;
  }
}
