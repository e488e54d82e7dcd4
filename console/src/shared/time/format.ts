import { DAY_MS, HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import type { TimezoneSettings } from '@gantry/contract/system';

/** Formats times for one time zone and language. */
export interface TimeFormat {
  /** The IANA name of the time zone. */
  readonly zone: string;
  /** `2026-11-22 14:03:22`, in the date and time format of the service. */
  dateTime(moment: Date): string;
  date(moment: Date): string;
  /** `14:03:22` */
  time(moment: Date): string;
  /** `14:03` */
  minute(moment: Date): string;
  /** `UTC+02:00`: the offset at that time. */
  offset(moment: Date): string;
  /** `2 min ago`, in the user's language. */
  ago(moment: Date, now?: number): string;
  /** `2 days 3 hr`, `3 hr 12 min`, `40 sec`: a duration in its two largest units, in the user's language. */
  duration(milliseconds: number): string;
  /** `2026-11-22`: the day in the time zone, for inputs and URLs. */
  isoDay(moment: Date): string;
  /** A day such as `2026-11-22`, in the date format of the service. */
  day(isoDay: string): string;
  /** The first and the last of some days, or the only one, in the date format of the service. */
  days(range: { readonly startDate: string; readonly endDate: string }): string;
}

const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

const LENGTHS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

const unitOf = (language: string, unit: string) =>
  new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'short' });

/**
 * Creates the time format for a time zone, a language, and the settings of the service. Dates and times have Latin
 * digits and read from left to right in every language.
 */
export function createTimeFormat(zone: string, language: string, settings: TimezoneSettings): TimeFormat {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'longOffset',
  });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  const read = (moment: Date): Record<string, string> =>
    Object.fromEntries(parts.formatToParts(moment).map(({ type, value }) => [type, value]));

  const dateOf = ({ year = '', month = '', day = '' }: Record<string, string>): string =>
    settings.dateFormat.replace('YYYY', year.padStart(4, '0')).replace('MM', month).replace('DD', day);
  const dayOf = (isoDay: string): string => {
    const [year, month, day] = isoDay.split('-');
    return dateOf({ year, month, day } as Record<string, string>);
  };
  const clock = ({ hour = '', minute = '', second = '' }: Record<string, string>, withSeconds: boolean) => {
    const seconds = withSeconds ? `:${second}` : '';
    if (settings.use24HourFormat) return `${hour}:${minute}${seconds}`;
    const hours = Number(hour);
    return `${hours % 12 || 12}:${minute}${seconds} ${hours < 12 ? 'AM' : 'PM'}`;
  };

  return {
    zone,
    dateTime: (moment) => {
      const all = read(moment);
      return `${dateOf(all)} ${clock(all, true)}`;
    },
    date: (moment) => dateOf(read(moment)),
    time: (moment) => clock(read(moment), true),
    minute: (moment) => clock(read(moment), false),
    offset: (moment) => {
      const { timeZoneName = 'GMT' } = read(moment);
      return timeZoneName === 'GMT' ? 'UTC+00:00' : timeZoneName.replace('GMT', 'UTC');
    },
    ago(moment, now = Date.now()) {
      const seconds = Math.round((moment.getTime() - now) / 1000);
      const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
      return relative.format(Math.trunc(seconds / size), unit);
    },
    duration(milliseconds) {
      const seconds = Math.max(0, Math.round(milliseconds / 1000));
      const parts = LENGTHS.map(([unit, size], at) => {
        const [, whole] = LENGTHS[at - 1] ?? [unit, Number.POSITIVE_INFINITY];
        return [unit, Math.floor((seconds % whole) / size)] as const;
      });
      const first = parts.findIndex(([, count]) => count > 0);
      const said = first < 0 ? parts.slice(-1) : parts.slice(first, first + 2).filter(([, n]) => n > 0);
      return said.map(([unit, count]) => unitOf(language, unit).format(count)).join(' ');
    },
    isoDay: (moment) => {
      const { year = '', month = '', day = '' } = read(moment);
      return `${year.padStart(4, '0')}-${month}-${day}`;
    },
    day: dayOf,
    days: ({ startDate, endDate }) => [...new Set([startDate, endDate])].map(dayOf).join(' – '),
  };
}

/** How far clocks are ahead of UTC at a time, in milliseconds. */
export function aheadAt(moment: number, { offset }: TimeFormat): number {
  const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] =
    /([+-])(\d{2}):(\d{2})(?::(\d{2}))?/.exec(offset(new Date(moment))) ?? [];
  const size = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS + Number(seconds) * 1_000;
  return sign === '-' ? -size : size;
}

/**
 * The times at which clocks show `local`, the same reading in UTC: none, one, or two. In no zone do they change twice within
 * two days.
 */
export function momentsShowing(local: number, time: TimeFormat): readonly number[] {
  const found = [local - DAY_MS, local + DAY_MS].map((near) => local - aheadAt(near, time));
  return [...new Set(found)]
    .filter((moment) => moment + aheadAt(moment, time) === local)
    .sort((one, other) => one - other);
}

/** The first of these times; if clocks skip it, as much later as they are set forward. */
export function momentShowing(local: number, time: TimeFormat): number {
  return momentsShowing(local, time)[0] ?? local - aheadAt(local - DAY_MS, time);
}

/** The time at which the hour of a time began on the clocks, which is no full hour of UTC everywhere. */
export function startOfHour(moment: number, time: TimeFormat): number {
  const ahead = aheadAt(moment, time);
  return Math.floor((moment + ahead) / HOUR_MS) * HOUR_MS - ahead;
}

/** From the beginning of the first day to the end of the last one, each as `2026-05-01`. */
export function spanOfDays(
  { startDate, endDate }: { readonly startDate: string; readonly endDate: string },
  time: TimeFormat,
): readonly [from: Date, until: Date] {
  const startOf = (local: number): Date => new Date(momentShowing(local, time));
  return [startOf(Date.parse(startDate)), startOf(Date.parse(endDate) + DAY_MS)];
}

/** Two weeks, in milliseconds: in no time zone do the clocks change twice within this time. */
const STEP_MS = 14 * DAY_MS;

/** The distinct UTC offsets within a range, in the order in which they first apply. @param until exclusive */
export function offsetsOf(from: Date, until: Date, { offset }: TimeFormat): string[] {
  const offsets = new Set<string>();
  const last = until.getTime() - 1;
  for (let at = from.getTime(); at < last; at += STEP_MS) offsets.add(offset(new Date(at)));
  return [...offsets.add(offset(new Date(last)))];
}

const SUNDAY = Date.UTC(2024, 0, 7);

/**
 * The days of the week in the order of the service's settings, with short names; `weekday` is 0 (Sunday) to 6 (Saturday).
 * @param firstDayOfWeek 0 (Sunday) to 6 (Saturday)
 */
export function weekdaysFrom(firstDayOfWeek: number, language: string): { weekday: number; name: string }[] {
  const names = new Intl.DateTimeFormat(language, { weekday: 'short', timeZone: 'UTC' });
  return Array.from({ length: 7 }, (_, at) => {
    const weekday = (firstDayOfWeek + at) % 7;
    return { weekday, name: names.format(new Date(SUNDAY + weekday * DAY_MS)) };
  });
}
