import { DateTime, IANAZone } from 'luxon';
import { type DeviceZone, inZone, reportedTime, timeIn } from './device-time.ts';

/** The tokens of Luxon that read a text in the same way everywhere. */
const TOKENS = new Set(
  'yyyy yy y M MM MMM MMMM L LL LLL LLLL d dd H HH h hh m mm s ss S SSS u uu uuu a Z ZZ ZZZ z E EEE EEEE c ccc cccc o ooo kkkk kk W WW X x'.split(
    ' ',
  ),
);
const PATTERN_MAX = 100;
const EXAMPLE = 'dd.MM.yyyy HH:mm:ss';

/**
 * The function `$time(text, pattern, zone)` of mappings: the time of a text as ISO 8601 in UTC. Without a pattern, all
 * common forms are read; without a zone, a time without an offset is in that of the connection.
 * @param note receives what is wrong with a text that cannot be read; the result is then undefined
 */
export function timeFunction(zone: DeviceZone, note: (flaw: string) => unknown) {
  return (text?: unknown, pattern?: unknown, zoneName?: unknown): string | undefined => {
    const named = zoneName === undefined || zoneName === null ? zone : inZone(zone, requireZone(zoneName));
    const read =
      pattern === undefined || pattern === null ? undefined : reader(requirePattern(pattern), named);
    if (text === undefined || text === null) return undefined;
    const { occurredAt, timeFlaw } = reportedTime(named, ['$time:', text, read]);
    if (occurredAt !== null) return new Date(occurredAt).toISOString();
    if (timeFlaw !== undefined) {
      note(read && !/is before the year 2000/.test(timeFlaw) ? misfit(text, String(pattern)) : timeFlaw);
    }
    return undefined;
  };
}

function reader(pattern: string, zone: ReturnType<typeof inZone>) {
  return (text: unknown): number | null => timeIn(String(text), [pattern], zone);
}

function misfit(text: unknown, pattern: string): string {
  const example = DateTime.fromObject(
    { year: 2026, month: 1, day: 31, hour: 8, minute: 15 },
    { zone: 'utc' },
  );
  const shown = JSON.stringify(text)?.slice(0, 60);
  return `$time: ${shown} does not fit the pattern "${pattern}": ${example.toFormat(pattern)} would`;
}

/** @throws Error for a pattern that is not known, or that does not determine a day */
function requirePattern(given: unknown): string {
  if (typeof given !== 'string' || given.length > PATTERN_MAX) {
    throw new Error(`$time: the pattern must be a text such as "${EXAMPLE}"`);
  }
  // The T of ISO 8601 is a token of Luxon for something else.
  const pattern = given.replace(/(?<=[a-z])T(?=[Hh])/, "'T'");
  const [plain = '', isOpen] = withoutQuotes(pattern);
  if (isOpen) throw new Error(`$time: the pattern "${given}" has a quote that is not closed`);
  const tokens = [...plain.matchAll(/([A-Za-z])\1*/g)].map(([token]) => token);
  const unknown = tokens.find((token) => !TOKENS.has(token));
  if (unknown !== undefined) {
    throw new Error(
      `$time: "${unknown}" in the pattern "${given}" is not known: use yyyy, MM, dd, HH, mm, ss, SSS, a and ZZ, as in "${EXAMPLE}", and put letters of the text itself in single quotes`,
    );
  }
  const has = (letters: string) => tokens.some((token) => letters.includes(token.charAt(0)));
  const isDay = has('Xx') || (has('y') && ((has('ML') && has('d')) || has('o'))) || (has('k') && has('W'));
  if (isDay) return pattern;
  throw new Error(`$time: the pattern "${given}" needs a year, a month and a day, as in "${EXAMPLE}"`);
}

/** The pattern without the texts in quotes, and whether the last of them is not closed. */
function withoutQuotes(pattern: string): [string, boolean] {
  const pieces = pattern.split("'");
  return [pieces.filter((_, index) => index % 2 === 0).join(' '), pieces.length % 2 === 0];
}

/** @throws Error for anything that is not a time zone */
function requireZone(given: unknown): string {
  const name = String(given);
  if (IANAZone.isValidZone(name) || /^utc(?:[+-]\d{1,2}(?::\d{2})?)?$/i.test(name)) return name;
  throw new Error(`$time: "${name.slice(0, 60)}" is not a time zone: use a name such as Europe/Berlin`);
}
