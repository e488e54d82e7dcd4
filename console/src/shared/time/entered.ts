import { DAY_MS, MINUTE_MS } from '@gantry/contract/durations';
import type { TimezoneSettings } from '@gantry/contract/system';
import { aheadAt, createTimeFormat, momentShowing, momentsShowing } from './format.ts';

/**
 * Dates and times as they are entered and shown in fields: in the format of the service and in its time zone. In the
 * URL and towards the service they are ISO 8601: a day, or a time to the minute, which has an offset only if the clocks
 * show it twice. The end of a range is shown as the time at which it ends, and sent as the last minute before.
 */
export interface EnteredTimes {
  /** The text of the field for an ISO value; the value itself if it cannot be read. */
  show(iso: string): string;
  /**
   * Reads the text of a field. Texts in ISO 8601 are read whatever the format of the service.
   * @returns undefined if it is no date; an empty array if the clocks skip the time; two values if they show it twice
   */
  read(text: string): readonly string[] | undefined;
  /** The ISO value of a time, in milliseconds since 1970. */
  iso(moment: number): string;
  /** The value for the calendar of the browser: a day, or a local time to the minute. */
  local(iso: string): string;
}

/** Which fields accept a time of day, and whether the field is the end of a range. */
export interface EnteredKind {
  readonly withTime: boolean;
  readonly isEnd?: boolean;
}

/** The digits of Arabic and Persian keyboards as Latin ones. */
const latin = (text: string): string =>
  text.replace(/[٠-٩۰-۹]/g, (digit) => String((digit.codePointAt(0) ?? 0) & 15));

const PLAIN_DAY = /^\d{4}-\d{2}-\d{2}$/;
const HAS_OFFSET = /(?:Z|[+-]\d{2}:?\d{2})$/i;
const TO_THE_MINUTE = /T\d{2}:\d{2}(?:Z|[+-]\d{2}:?\d{2})?$/i;

const pad = (n: number, length = 2): string => String(n).padStart(length, '0');

/** The day as ISO text; undefined if the calendar has no such day. */
function isoDay(year: number, month: number, day: number): string | undefined {
  const iso = `${pad(year, 4)}-${pad(month)}-${pad(day)}`;
  const date = new Date(`${iso}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(iso) ? iso : undefined;
}

function readDay(text: string, format: TimezoneSettings['dateFormat']): string | undefined {
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text);
  if (iso) return isoDay(Number(iso[1]), Number(iso[2]), Number(iso[3]));
  const numbers = /^(\d{1,4})[./-](\d{1,2})[./-](\d{1,4})$/.exec(text)?.slice(1);
  if (!numbers) return undefined;
  const order = format.split(/[^A-Z]/);
  const [year = '', month = '', day = ''] = ['YYYY', 'MM', 'DD'].map((part) => numbers[order.indexOf(part)]);
  return year.length === 4 ? isoDay(Number(year), Number(month), Number(day)) : undefined;
}

/** Minutes since midnight; 1,440 for 24:00. Undefined if the text is no time. */
function readMinutes(text: string): number | undefined {
  const [, hours = '', minutes = '0', half] =
    /^(\d{1,2})(?:[:.]?(\d{2}))?(?::00)?\s?([ap]\.?m\.?)?$/i.exec(text) ?? [];
  const [hour, minute] = [Number(hours), Number(minutes)];
  if (hours === '' || minute > 59) return undefined;
  if (half) {
    if (hour < 1 || hour > 12) return undefined;
    return ((hour % 12) + (/^p/i.test(half) ? 12 : 0)) * 60 + minute;
  }
  const total = hour * 60 + minute;
  return total <= 1_440 ? total : undefined;
}

/** Creates the reader and writer of the fields of one kind. */
export function createEnteredTimes(
  settings: TimezoneSettings,
  { withTime, isEnd = false }: EnteredKind,
): EnteredTimes {
  const zoned = createTimeFormat(settings.timezone, 'en', settings);
  const plain = createTimeFormat('UTC', 'en', settings);

  /** What the clocks of the zone show at a time, as if it were UTC, in milliseconds. */
  const reading = (moment: number): number => moment + aheadAt(moment, zoned);
  const momentsOf = (local: number): readonly number[] => momentsShowing(local, zoned);

  /** The time that an ISO value denotes: its beginning, or for an end of a range its end. NaN if it is invalid. */
  function momentOf(iso: string): number {
    const local = Date.parse(HAS_OFFSET.test(iso) ? iso : `${iso}Z`);
    const start = HAS_OFFSET.test(iso) ? local : momentShowing(local, zoned);
    if (!isEnd) return start;
    return start + (TO_THE_MINUTE.test(iso) ? MINUTE_MS : /[.,]\d/.test(iso) ? 1 : 1_000);
  }

  /** A time as the ISO value that is sent: for an end of a range, that of the last minute. */
  function isoOf(moment: number): string {
    const at = isEnd ? moment - MINUTE_MS : moment;
    const local = new Date(reading(at)).toISOString().slice(0, 16);
    return momentsOf(reading(at)).length > 1 ? local + zoned.offset(new Date(at)).replace('UTC', '') : local;
  }

  return {
    iso: isoOf,
    show(iso) {
      if (PLAIN_DAY.test(iso)) return plain.date(new Date(`${iso}T00:00:00Z`));
      const moment = momentOf(iso);
      if (Number.isNaN(moment)) return iso;
      const local = reading(moment);
      // The end of a day is written on that day.
      const midnight = Math.floor(local / DAY_MS) * DAY_MS;
      if (isEnd && settings.use24HourFormat && moment === momentShowing(midnight, zoned))
        return `${plain.date(new Date(midnight - DAY_MS))} 24:00`;
      const shown = new Date(local);
      // The last second is named if a range from a link does not end at a whole minute.
      const isWhole = local % MINUTE_MS === 0;
      const last = isEnd && !isWhole ? new Date(local - 1) : shown;
      return `${plain.date(last)} ${isWhole ? plain.minute(last) : plain.time(last)}`;
    },
    read(text) {
      const [, dayText = '', timeText] = /^([^\sT]+)(?:[\sT]+([^\sT].*))?$/i.exec(latin(text).trim()) ?? [];
      const day = readDay(dayText, settings.dateFormat);
      if (day === undefined) return undefined;
      if (timeText === undefined) return [day];
      const minutes = withTime ? readMinutes(timeText) : undefined;
      if (minutes === undefined) return undefined;
      // Nobody who ends a range at 23:59 means to leave out the last minute of the day.
      const until = isEnd && minutes === 1_439 ? 1_440 : minutes;
      const local = Date.parse(`${day}T00:00:00Z`) + until * MINUTE_MS;
      // A day ends even if clocks skip the midnight after it.
      const isDayEnd = until === 1_440 && momentsOf(local).length === 0;
      return (isDayEnd ? [momentShowing(local, zoned)] : momentsOf(local)).map(isoOf);
    },
    local(iso) {
      if (!withTime) return iso.slice(0, 10);
      if (PLAIN_DAY.test(iso)) return `${iso}T${isEnd ? '23:59' : '00:00'}`;
      const moment = momentOf(iso);
      return Number.isNaN(moment) ? '' : new Date(reading(moment)).toISOString().slice(0, 16);
    },
  };
}

/** The text that a field of the service shows as an example of its format, such as `DD/MM/YYYY hh:mm`. */
export function formatHint({ dateFormat }: TimezoneSettings, withTime: boolean): string {
  return withTime ? `${dateFormat} hh:mm` : dateFormat;
}
