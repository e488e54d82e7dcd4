import { DAY_MS, HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import { EARLIEST_EVENT, MAX_AHEAD_MS } from '@gantry/contract/time-bounds';
import { DateTime } from 'luxon';

/** The time zone of the local times of a message, and when the message arrived. */
export interface DeviceZone {
  /** IANA time zone */
  readonly name: string;
  /**
   * Unix milliseconds. A local time that occurs twice, when clocks are set back, means the later occurrence, unless
   * that is more than 5 minutes after this time.
   */
  readonly receivedAt: number;
  /** Whether `05/11/2026` is the fifth of November; undefined if that is not known, and such dates are not read. */
  readonly dayFirst?: boolean | undefined;
}

/** An IANA time zone, in which a local time that occurs twice means the first occurrence; or the zone of a message. */
export type Zone = string | DeviceZone;

/** Longer texts are not times, and matching them against patterns would be slow. */
const MAX_LENGTH = 100;

/** The length of each unit in milliseconds, by the number of digits of a time in that unit: s, ms, µs, ns. */
const UNIT_MS: Readonly<Record<number, number>> = { 10: 1_000, 13: 1, 16: 1 / 1_000, 19: 1 / 1_000_000 };

/**
 * The time of a Unix epoch in seconds, milliseconds, microseconds or nanoseconds; the number of digits determines the
 * unit. Seconds may have a fraction.
 * @returns Unix milliseconds; null for any other number of digits, and for times before the year 2000
 */
export function epochTime(value: unknown): number | null {
  return sane(epochOf(value));
}

/**
 * The time of an ISO 8601 text, or of a text in another form whose meaning is not in doubt: `2026/11/20 14:51:24`,
 * `20.11.2026 14:51:24`, `20261120T145124`, `20 Nov 2026 02:51:24 PM`, with or without a fraction and an offset (`Z`,
 * `+3`, `+03`, `+0300`, `+3:00`, `GMT+3`). `20/11/2026` and `20-11-2026` are read if the zone says whether the day is first.
 * @param zone for a text without an offset
 * @returns Unix milliseconds; null for any other text, and for times before the year 2000
 */
export function isoTime(text: unknown, zone: Zone): number | null {
  return sane(momentOfText(text, zone));
}

/**
 * The time of a text in the format of a device.
 * @param patterns tokens of Luxon, tried in order: `dd/MM/yyyy HH:mm:ss` for example
 * @param zone of the text, unless it contains an offset
 * @returns Unix milliseconds; null when no pattern fits, and for times before the year 2000
 */
export function timeIn(text: unknown, patterns: readonly string[], zone: Zone): number | null {
  if (typeof text !== 'string' || text.length > MAX_LENGTH) return null;
  for (const pattern of patterns) {
    const time = DateTime.fromFormat(text.trim(), pattern, {
      zone: nameOf(zone),
      setZone: true,
      locale: 'en',
    });
    const moment = sane(momentOf(time, zone));
    if (moment !== null) return moment;
  }
  return null;
}

/** A field that may contain the time of a report: its name, its value, and how it is read (by default as `isoTime` or `epochTime`). */
export type TimeField = readonly [name: string, value: unknown, read?: (value: unknown) => number | null];

/** When something happened according to a device. */
export interface ReportedTime {
  /** Unix milliseconds; null if no field contains a time after 1999. It may be ahead of the time of receipt. */
  readonly occurredAt: number | null;
  /** Why the time that the device reported cannot be used: the field, its value, and what would be right. */
  readonly timeFlaw?: string;
}

/** The time of a report: that of the first of the fields that contains one. Fields that are null or empty are absent. */
export function reportedTime(zone: Zone, ...fields: readonly TimeField[]): ReportedTime {
  let flaw: string | null = null;
  for (const [name, value, read] of fields) {
    if (value === null || value === undefined || (typeof value === 'string' && value.trim() === '')) continue;
    const time = sane(read ? read(value) : readTime(value, zone));
    if (time !== null) {
      const ahead = typeof zone === 'string' ? 0 : time - zone.receivedAt;
      return ahead <= MAX_AHEAD_MS
        ? { occurredAt: time }
        : { occurredAt: time, timeFlaw: `${quoted(name, value)} is ${aheadBy(ahead)}` };
    }
    flaw ??= `${quoted(name, value)} ${whatIsWrongWith(value, zone)}`;
  }
  return { occurredAt: null, ...(flaw !== null && { timeFlaw: flaw }) };
}

function readTime(value: unknown, zone: Zone): number | null {
  const text = typeof value === 'number' ? String(value) : value;
  return epochOf(value) ?? momentOfText(text, zone);
}

const RIGHT = '2026-01-31T08:15:00+03:00 or a Unix time in s, ms, µs or ns would be right';

function whatIsWrongWith(value: unknown, zone: Zone): string {
  const known = typeof zone === 'string' ? { name: zone, receivedAt: 0 } : zone;
  const time = readTime(value, zone);
  if (time !== null && time < EARLIEST_EVENT) return 'is before the year 2000: set the clock of the device';
  if (time === null && known.dayFirst === undefined && typeof value === 'string') {
    const isInDoubt = [true, false].some((dayFirst) => readTime(value, { ...known, dayFirst }) !== null);
    if (isInDoubt)
      return 'may begin with the day or with the month: set the option dayFirst of the connection';
  }
  return `cannot be read as a time: ${RIGHT}`;
}

function aheadBy(ms: number): string {
  const inDays = ms >= 2 * DAY_MS;
  const [unit, length]: readonly [string, number] = inDays
    ? ['days', DAY_MS]
    : ms >= HOUR_MS
      ? ['hours', HOUR_MS]
      : ['minutes', MINUTE_MS];
  const count = Math.round((10 * ms) / length) / 10;
  return `${count} ${unit} ahead: set the clock of the device, or the time zone of the connection`;
}

/** The part of a value that a sentence repeats, in characters. */
const SHOWN_MAX = 60;

function quoted(name: string, value: unknown): string {
  const json = typeof value === 'object' ? 'an object' : JSON.stringify(value);
  const shown = json.length <= SHOWN_MAX ? json : `${json.slice(0, SHOWN_MAX - 1).toWellFormed()}…`;
  return `${name} ${shown}`;
}

/** The Unix milliseconds of an epoch. A number of fewer digits is from before 2000, because it counts from the start of the device. */
function epochOf(value: unknown): number | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value);
  if (text.length > MAX_LENGTH) return null;
  const found = /^(\d+)(\.\d+)?$/.exec(text.trim());
  if (!found) return typeof value === 'number' && Math.abs(value) < 1e9 ? value * 1_000 : null;
  const number = Number(`${found[1]}${found[2] ?? ''}`);
  const unit = UNIT_MS[found[1]?.length ?? 0];
  if (unit !== undefined) return Math.floor(number * unit);
  return number * 1_000 < EARLIEST_EVENT && found[1]?.length !== 8 ? number * 1_000 : null;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

// The expressions match texts of at most 100 characters in lower case, in which blanks are single.
const YEAR_FIRST = /^(\d{4})([-/.:])(\d{1,2})\2(\d{1,2})$/;
const COMPACT = /^(\d{4})(\d{2})(\d{2})$/;
const YEAR_LAST = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})$/;
const DAY_AND_NAME = /^(\d{1,2})[ -]([a-z]{3,9})[ -](\d{4})$/;
const NAME_AND_DAY = /^([a-z]{3,9}) (\d{1,2}) (\d{4})$/;
const WEEKDAY = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6} /;
/** ctime and Java write the year after the time of day. */
const YEAR_AT_END = /^([a-z]{3} \d{1,2}) (\d{1,2}:\d{2}:\d{2})( utc| gmt|) (\d{4})$/;
const OFFSET = '(z|utc|gmt|(?:utc ?|gmt ?)?[+-]\\d{1,2}(?::?\\d{2})?|)';
const CLOCK = new RegExp(
  `[t ](\\d{1,2}):(\\d{2})(?::(\\d{2})(?:[.,:](\\d{1,9}))?)?(?: ?([ap])\\.?m\\.?)? ?${OFFSET}$`,
);
const COMPACT_CLOCK = new RegExp(`[t ](\\d{2})(\\d{2})(?:(\\d{2})(?:[.,](\\d{1,9}))?)?()${OFFSET}$`);
/** The forms of ISO 8601 that Luxon reads: days of weeks (`2026-W47-5`) and of years (`2026-324`), and 24:00. */
const RARE_ISO = /^\d{4}-?(?:w\d{2}-?\d|\d{3}|\d{2}-?\d{2}t24)/;

/** The Unix milliseconds of a text. */
function momentOfText(text: unknown, zone: Zone): number | null {
  if (typeof text !== 'string' || text.length > MAX_LENGTH) return null;
  const dotNet = /^\\?\/Date\((\d{1,16})(?:[+-]\d{4})?\)\\?\/$/.exec(text.trim());
  if (dotNet) return Number(dotNet[1]);
  const plain = text
    .trim()
    .toLowerCase()
    .replaceAll('−', '-')
    .replace(/\[[a-z_/+-]{1,50}\]$/, '')
    .replaceAll(/,(?=\s)/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replace(WEEKDAY, '')
    .replace(YEAR_AT_END, '$1 $4 $2$3')
    .replace(/^(20\d{6})(\d{6})(\d{3})?(?!\d)/, (_, date, time, ms) => `${date}t${time}.${ms ?? '0'}`);
  const clock = CLOCK.exec(plain) ?? COMPACT_CLOCK.exec(plain);
  const date = dateOf(
    clock ? plain.slice(0, clock.index) : plain,
    typeof zone === 'string' ? undefined : zone.dayFirst,
  );
  if (date) return momentOfParts(date, clock, zone);
  if (!RARE_ISO.test(plain)) return null;
  return momentOf(DateTime.fromISO(plain.toUpperCase(), { zone: nameOf(zone), setZone: true }), zone);
}

/** @param clock a match of `CLOCK` or `COMPACT_CLOCK`; null for a date alone, which means midnight */
function momentOfParts(date: PlainDate, clock: RegExpExecArray | null, zone: Zone): number | null {
  const [, hours = '0', minute = '0', second = '0', fraction = '0', half, offset = ''] = clock ?? [];
  if (half && (Number(hours) < 1 || Number(hours) > 12)) return null;
  const reading = {
    year: date.year,
    month: date.month,
    day: date.day,
    hour: half ? (Number(hours) % 12) + (half === 'p' ? 12 : 0) : Number(hours),
    minute: Number(minute),
    second: Number(second),
    millisecond: Number(fraction.padEnd(3, '0').slice(0, 3)),
  };
  if (reading.hour === 24 && reading.minute + reading.second + reading.millisecond === 0) {
    const next = momentOfParts(date, null, 'utc');
    if (next === null) return null;
    const { year, month, day } = DateTime.fromMillis(next + DAY_MS, { zone: 'utc' });
    return momentAt({ ...reading, year, month, day, hour: 0 }, offset, zone);
  }
  return momentAt(reading, offset, zone);
}

interface PlainDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

interface Reading extends PlainDate {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
}

/** The Unix milliseconds of a time in UTC; null if there is no such time. */
function utcOf({ year, month, day, hour, minute, second, millisecond }: Reading): number | null {
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return null;
  const ms = Date.UTC(year, month - 1, day, hour, minute, second, millisecond);
  return new Date(ms).getUTCDate() === day ? ms : null;
}

/** @param offset such as `+3`, `+03:00`, `gmt-0330` or `z`; empty for a local time */
function momentAt(reading: Reading, offset: string, zone: Zone): number | null {
  if (offset === '') return momentOf(DateTime.fromObject(reading, { zone: nameOf(zone) }), zone);
  const [, sign, hours = '0', minutes = '0'] = /([+-])(\d{1,2})(?::?(\d{2}))?$/.exec(offset) ?? [];
  // No place has an offset of more than 14 hours.
  if (Number(hours) > 14 || Number(minutes) > 59) return null;
  const ms = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS;
  const utc = utcOf(reading);
  return utc === null ? null : utc - (sign === '-' ? -ms : ms);
}

function dateOf(text: string, dayFirst: boolean | undefined): PlainDate | null {
  const [, year, , month, day] = YEAR_FIRST.exec(text) ?? [];
  if (year !== undefined) return { year: Number(year), month: Number(month), day: Number(day) };
  const compact = COMPACT.exec(text);
  if (compact) return { year: Number(compact[1]), month: Number(compact[2]), day: Number(compact[3]) };
  const [, first, mark, second, last] = YEAR_LAST.exec(text) ?? [];
  if (first !== undefined) {
    const isDayFirst = mark === '.' ? dayFirst !== false : dayFirst;
    if (isDayFirst === undefined) return null;
    const [dayOfMonth, monthOfYear] = isDayFirst ? [first, second] : [second, first];
    return { year: Number(last), month: Number(monthOfYear), day: Number(dayOfMonth) };
  }
  const [, before, name, yearAfter] = DAY_AND_NAME.exec(text) ?? [];
  if (name !== undefined) return named(yearAfter, name, before);
  const [, nameFirst, after, yearLast] = NAME_AND_DAY.exec(text) ?? [];
  return nameFirst === undefined ? null : named(yearLast, nameFirst, after);
}

function named(year: string | undefined, name: string, day: string | undefined) {
  const month = MONTHS.indexOf(name.slice(0, 3)) + 1;
  return month === 0 ? null : { year: Number(year), month, day: Number(day) };
}

/** The same zone under another name, for times that are in that one. */
export function inZone(zone: Zone, name: string): Zone {
  return typeof zone === 'string' ? name : { ...zone, name };
}

function nameOf(zone: Zone): string {
  return typeof zone === 'string' ? zone : zone.name;
}

function momentOf(time: DateTime, zone: Zone): number | null {
  if (!time.isValid) return null;
  const moments = time.getPossibleOffsets().map((each) => each.toMillis());
  const latest = typeof zone === 'string' ? Number.NEGATIVE_INFINITY : zone.receivedAt + MAX_AHEAD_MS;
  const past = moments.filter((moment) => moment <= latest);
  return past.length > 0 ? Math.max(...past) : Math.min(...moments);
}

/** The time; null before the year 2000, because such numbers are counters, or times since the device was started. */
function sane(ms: number | null): number | null {
  return ms !== null && ms >= EARLIEST_EVENT ? ms : null;
}
