import type { HotlistColumn, HotlistTemplate } from '@gantry/contract/hotlists';
import { plateKey } from '@gantry/contract/plate';
import { plateRegion } from '@gantry/contract/plate-regions';
import { isStorableText } from '@gantry/contract/text';
import { EARLIEST_EVENT } from '@gantry/contract/time-bounds';
import { DateTime, IANAZone } from 'luxon';
import { storable } from '../platform/outbound.ts';
import type { EntryContent } from './entries-store.ts';
import { cellsOf, MAX_COLUMNS, UnreadableFile } from './read-lines.ts';

/** An entry of a line, or what is wrong with it. */
export type ReadEntry = { readonly content: EntryContent } | { readonly problem: string };

/** Reads the lines of a file by a template. */
export interface LineReader {
  /** The last header line says where named columns are. */
  readHeader(text: string): void;
  /** Must be called after the header lines. @throws UnreadableFile when the header lacks a column */
  read(text: string): ReadEntry;
  /** The names in the last header line. */
  readonly names: readonly string[];
}

type Cut = (cells: readonly string[], text: string) => string;

/** Maximum lengths, in characters. */
const MAX = { plate: 50, reason: 500, reference: 200, extra: 500 };
const MAX_EXTRA_BYTES = 1_024;

/** A text of ISO 8601 that begins with a whole date. Luxon takes `2026-05` for the first of May, and `10:30` for today. */
const ISO_DAY = /^\d{4}-?(?:\d{2}-?\d{2}|W\d{2}-?\d|\d{3})(?:T|$)/i;
const MIN_PLATE = 2;

/** @param serviceZone the time zone of times without one @throws UnreadableFile for a template that contradicts itself */
export function createLineReader(template: HotlistTemplate, serviceZone: string): LineReader {
  const { columns, dates, layout, defaultReason, defaultRegion } = template;
  const delimiter = template.delimiter === 'TAB' ? '\t' : template.delimiter;
  const zone = dates.zone ?? serviceZone;
  if (!IANAZone.isValidZone(zone))
    throw new UnreadableFile(`There is no time zone ${zone}: use one such as Europe/Vienna`);
  requireWholeDate(dates.format, zone);
  const timeOf = createTimeReader(dates.format, zone);
  let names: readonly string[] = [];
  let cuts: ReturnType<typeof cutsOf> | null = null;

  const cutsNow = () => {
    cuts ??= cutsOf(columns, names, layout);
    return cuts;
  };

  return {
    get names() {
      return names;
    },
    readHeader(text) {
      names = (layout === 'FIXED' ? [] : (cellsOf(text, delimiter) ?? [])).map((name) => name.trim());
      cuts = null;
    },
    read(text) {
      const { number, region, reason, reference, from, until, extra } = cutsNow();
      const cells = layout === 'FIXED' ? [] : cellsOf(text, delimiter);
      if (cells === null) return { problem: 'A quote is not closed' };
      if (cells.length > MAX_COLUMNS) return { problem: `There are more than ${MAX_COLUMNS} columns` };
      const at = (cut: Cut | null): string => (cut ? cut(cells, text).trim() : '');
      const flaws: string[] = [];
      const plate = plateFrom(at(number), flaws);
      const content: EntryContent = {
        plate,
        region: regionFrom(at(region), flaws) ?? defaultRegion,
        reason: textFrom(at(reason), 'The reason', MAX.reason, flaws) || defaultReason,
        reference: textFrom(at(reference), 'The reference', MAX.reference, flaws) || null,
        validFrom: timeOf(at(from), false, flaws),
        validUntil: timeOf(at(until), true, flaws),
        approvedBy: null,
        reviewOn: null,
        extra: extraFrom(extra, at, flaws),
      };
      const { validFrom, validUntil } = content;
      if (validFrom !== null && validUntil !== null && validUntil < validFrom)
        flaws.push('It ends before it begins');
      const [problem] = flaws;
      return problem === undefined ? { content } : { problem };
    },
  };
}

/**
 * A part of the date that is left out would be that of today. Parts that occur again and again without a separator can be read
 * in so many ways that a line takes minutes.
 * @throws UnreadableFile for a format that leaves out a part of the date, or repeats one
 */
function requireWholeDate(format: string, zone: string): void {
  if (format === 'iso') return;
  const letters = [...format.replaceAll(/'[^']*'/g, ' ').matchAll(/([a-z])\1*/gi)].map(
    ([, letter]) => letter,
  );
  const twice = letters.find((letter, at) => letters.indexOf(letter) !== at);
  if (twice !== undefined)
    throw new UnreadableFile(
      `The format ${format} has ${twice} in two places: give each part of a time once`,
    );
  const day = DateTime.fromObject({ year: 2001, month: 2, day: 3 }, { zone });
  const read = DateTime.fromFormat(day.toFormat(format), format, { zone });
  if (!read.isValid || !read.hasSame(day, 'day'))
    throw new UnreadableFile(
      `The format ${format} does not give a year, a month and a day: use one such as dd.MM.yyyy`,
    );
}

function cutsOf(
  columns: HotlistTemplate['columns'],
  names: readonly string[],
  layout: HotlistTemplate['layout'],
) {
  const cut = (column: HotlistColumn | null): Cut | null =>
    column === null ? null : cutOf(column, names, layout);
  return {
    number: cut(columns.number),
    region: cut(columns.region),
    reason: cut(columns.reason),
    reference: cut(columns.reference),
    from: cut(columns.from),
    until: cut(columns.until),
    extra: Object.entries(columns.extra ?? {}).map(([name, column]) => ({ name, cut: cut(column) })),
  };
}

function cutOf(column: HotlistColumn, names: readonly string[], layout: HotlistTemplate['layout']): Cut {
  if (typeof column === 'object') {
    if (layout !== 'FIXED')
      throw new UnreadableFile('Only the layout FIXED has columns with start and length');
    return (_, text) => text.slice(column.start - 1, column.start - 1 + column.length);
  }
  if (layout === 'FIXED')
    throw new UnreadableFile('With the layout FIXED, give each column as start and length');
  if (typeof column === 'number') return (cells) => cells[column - 1] ?? '';
  const wanted = column.toLowerCase();
  const at = names.findIndex((name) => name.toLowerCase() === wanted);
  if (at === -1) {
    const known =
      names.length === 0 ? 'the file has no header line' : `there are ${shown(names.join(', '), 200)}`;
    throw new UnreadableFile(`There is no column ${column}: ${known}. Name another, or give its position`);
  }
  return (cells) => cells[at] ?? '';
}

function plateFrom(text: string, flaws: string[]): string {
  if (text === '') flaws.push('There is no plate');
  else if ([...text].length > MAX.plate) flaws.push(`The plate has more than ${MAX.plate} characters`);
  else if (text.includes('*')) flaws.push('Patterns with * are entered by hand: a file lists whole plates');
  else if ([...plateKey(text)].length < MIN_PLATE) flaws.push('A plate has at least two letters or digits');
  else if (!isStorableText(text)) flaws.push('The plate contains characters that are not text');
  return text;
}

function regionFrom(text: string, flaws: string[]): string | null {
  if (text === '') return null;
  const { success, data } = plateRegion.safeParse(text);
  if (!success) flaws.push(`${shown(text, 20)} is not a region such as AT or US-CA`);
  return data ?? null;
}

function textFrom(text: string, what: string, max: number, flaws: string[]): string {
  if (text.length > max) flaws.push(`${what} has more than ${max} characters`);
  else if (!isStorableText(text)) flaws.push(`${what} contains characters that are not text`);
  return text;
}

function extraFrom(
  columns: readonly { readonly name: string; readonly cut: Cut | null }[],
  at: (cut: Cut | null) => string,
  flaws: string[],
): Readonly<Record<string, string>> | null {
  const found = columns.flatMap(({ name, cut }) => {
    const text = textFrom(at(cut), name, MAX.extra, flaws);
    return text === '' ? [] : [[name, text] as const];
  });
  if (found.length === 0) return null;
  const extra = Object.fromEntries(found);
  if (JSON.stringify(extra).length > MAX_EXTRA_BYTES)
    flaws.push(`The further columns have more than ${MAX_EXTRA_BYTES} characters`);
  return extra;
}

/** The beginning of a text of a file, as PostgreSQL can store it. */
export function shown(text: string, length: number): string {
  return storable(text.slice(0, length));
}

/** The same times occur again and again, and reading one takes ten microseconds. */
const TIMES_KEPT = 10_000;

/** Reads times of one format, in ISO 8601. A day as the end is the end of that day. */
function createTimeReader(format: string, zone: string) {
  const known = new Map<string, { start: string; end: string } | null>();
  const hasTime = format === 'iso' ? null : /[HhS]/.test(format.replaceAll(/'[^']*'/g, ''));
  const parse = (text: string): { start: string; end: string } | null => {
    if (format === 'iso' && !ISO_DAY.test(text)) return null;
    const options = { zone, setZone: true };
    const read =
      format === 'iso' ? DateTime.fromISO(text, options) : DateTime.fromFormat(text, format, options);
    if (!read.isValid || read.year < 1900 || read.year > 9_999) return null;
    // Which one of a time that occurs twice Luxon takes, depends on the season in which it is read.
    const [time = read] = read.getPossibleOffsets();
    const isDay = hasTime === null ? !/[T ]\d/.test(text) : !hasTime;
    const start = Math.max(time.toMillis(), EARLIEST_EVENT);
    const end = isDay ? time.endOf('day').toMillis() : time.toMillis();
    return {
      start: new Date(start).toISOString(),
      end: new Date(Math.max(end, EARLIEST_EVENT)).toISOString(),
    };
  };
  return (text: string, isEnd: boolean, flaws: string[]): string | null => {
    if (text === '') return null;
    let time = known.get(text);
    if (time === undefined) {
      if (known.size >= TIMES_KEPT) known.clear();
      time = parse(text);
      known.set(text, time);
    }
    if (time === null)
      flaws.push(`${shown(text, 30)} is not a time as ${format === 'iso' ? '2026-01-31' : format}`);
    return time === null ? null : isEnd ? time.end : time.start;
  };
}
