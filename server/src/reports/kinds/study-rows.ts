import { MINUTE_MS } from '@gantry/contract/durations';
import type { TimezoneSettings } from '@gantry/contract/system';
import { createLocalTime } from '../../platform/local-time.ts';
import type { Interval } from '../../platform/time.ts';
import { type BinStatus, type Count, joinCounts, type Leg } from '../../traffic/bin.ts';
import { weekdayOf } from '../../traffic/daily.ts';
import { binsByDay, type DayOfBins, hoursOf } from '../../traffic/local-hours.ts';
import type { Cell, Column, FigureRow, FigureTable, Row, StudyContents, Tone } from '../document.ts';

// The rows of counts by interval, with sums by hour and by day.

/** As it is stored: times are texts. */
export type Json<Value> = Value extends Date
  ? string
  : Value extends readonly (infer Each)[]
    ? Json<Each>[]
    : Value extends object
      ? { [Field in keyof Value]: Json<Value[Field]> }
      : Value;

export type Sheet = StudyContents['sheets'][number];

/** What a part of the pages needs to know of its study. */
export interface Setting {
  readonly settings: TimezoneSettings;
  readonly range: Interval;
}

const SIDES: Readonly<Record<Leg, string>> = {
  N: 'NORTH',
  NE: 'NORTHEAST',
  E: 'EAST',
  SE: 'SOUTHEAST',
  S: 'SOUTH',
  SW: 'SOUTHWEST',
  W: 'WEST',
  NW: 'NORTHWEST',
};
const OPPOSITE: Readonly<Record<Leg, Leg>> = {
  N: 'S',
  NE: 'SW',
  E: 'W',
  SE: 'NW',
  S: 'N',
  SW: 'NE',
  W: 'E',
  NW: 'SE',
};

/** NORTHBOUND (SOUTH APPROACH): vehicles from the south travel north. */
export function nameOfApproach(leg: Leg): string {
  return `${SIDES[OPPOSITE[leg]]}BOUND (${SIDES[leg]} APPROACH)`;
}

const DIRECTIONS: Readonly<Record<string, string>> = {
  NB: 'Northbound',
  EB: 'Eastbound',
  SB: 'Southbound',
  WB: 'Westbound',
  CW: 'Clockwise',
  CCW: 'Anticlockwise',
  BOTH: 'Both directions',
};

/** The words for a direction of travel as a sensor reports it. */
export function nameOfDirection(direction: string | number): string {
  return typeof direction === 'number' ? `${direction}°` : (DIRECTIONS[direction] ?? direction);
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

export function weekdayName(day: string): string {
  return WEEKDAYS[weekdayOf(day)] ?? '';
}

/** Local times of the day, such as 07:45, with the offset in an hour that occurs twice. */
export function clockIn(settings: TimezoneSettings) {
  const { iso, day, offsetIfTwice } = createLocalTime(settings);
  const from = (time: number): string => {
    const offset = offsetIfTwice(time);
    return `${iso(time).slice(11, 16)}${offset === null ? '' : ` ${offset}`}`;
  };
  /** The end of an interval: that of the day is 24:00. */
  const until = (start: number, end: number): string =>
    day(end) !== day(start) && iso(end).slice(11, 16) === '00:00' ? '24:00' : from(end);
  return { from, until, day };
}

/** An interval with the values of its columns, none of which is known in a gap. */
export interface Slot extends Count {
  readonly values: readonly number[];
}

export const TONES: Readonly<Partial<Record<BinStatus, Tone>>> = {
  PARTIAL: 'partial',
  PROVISIONAL: 'provisional',
  GAP: 'gap',
  EXCLUDED: 'excluded',
};

/** A status for readers, with what is known of an interval that is not whole. */
export function statusText({ status, coverage }: Pick<Count, 'status' | 'coverage'>): string {
  return status === 'PARTIAL' ? `PARTIAL ${Math.floor(coverage * 100)} %` : status;
}

/** A peak hour that is marked in a table. */
export interface MarkedPeak {
  readonly name: string;
  readonly from: number;
  readonly until: number;
  readonly values: readonly Cell[];
  /** As text with three decimals. */
  readonly factors: readonly Cell[];
}

export interface SlotsOfStudy extends Setting {
  readonly slots: readonly Slot[];
  /** The columns of the values. */
  readonly columns: readonly Column[];
  readonly peaks: readonly MarkedPeak[];
  /** Whether slots are shorter than an hour. */
  readonly hasHours: boolean;
}

/** The table of counts by interval for pages, and its sheet, which has no sums. */
export function tableOfSlots(study: SlotsOfStudy): { table: FigureTable; sheet: Omit<Sheet, 'name'> } {
  const { slots, settings, range, columns } = study;
  const clock = clockIn(settings);
  const { timezone } = settings;
  const text = (name: string, width: number): Column => ({ name, type: 'text', width });
  const days = binsByDay(slots, range, timezone);
  return {
    table: {
      columns: [text('From', 9), text('Until', 9), ...onPages(columns), text('Row', 25), text('Status', 19)],
      rows: days.flatMap((day) => rowsOfDay(study, day)),
    },
    sheet: {
      columns: [
        text(`Day (${timezone})`, 12),
        text(`From (${timezone})`, 12),
        text(`Until (${timezone})`, 12),
        ...columns,
        { name: 'Coverage', type: 'share', width: 8 },
        text('Status', 12),
        text('Peak hour', 12),
      ],
      rows: slots.map((slot) => [
        clock.day(slot.start),
        clock.from(slot.start),
        clock.until(slot.start, slot.end),
        ...valuesOf(slot, columns),
        slot.coverage,
        slot.status,
        peakNames(study.peaks, slot) || null,
      ]),
    },
  };
}

function valuesOf({ volume, values }: Slot, columns: readonly Column[]): Cell[] {
  return columns.map((_, n) => (volume === null ? null : (values[n] ?? 0)));
}

function peakNames(peaks: readonly MarkedPeak[], { start, end }: Span): string {
  return peaks
    .filter(({ from, until }) => start >= from && end <= until)
    .map(({ name }) => name)
    .join(', ');
}

type Span = Pick<Slot, 'start' | 'end'>;

/** Writes the rows of one day. */
function writerOf({ settings, columns, peaks }: SlotsOfStudy, group: string) {
  const clock = clockIn(settings);
  const times = ({ start, end }: Span): Cell[] => [clock.from(start), clock.until(start, end)];
  return {
    slot(slot: Slot, together: number): FigureRow {
      const peak = peakNames(peaks, slot);
      const tone = TONES[slot.status] ?? (peak ? 'peak' : undefined);
      const cells = [...times(slot), ...valuesOf(slot, columns), peak && `${peak} peak`, statusText(slot)];
      return { group, tone, together, cells };
    },
    sum(slots: readonly Slot[], name: string): FigureRow {
      const sum: Slot = { ...joinCounts(slots), values: columns.map((_, n) => total(slots, n)) };
      const cells = [...times(sum), ...valuesOf(sum, columns), name, statusText(sum)];
      return { group, tone: 'total', cells };
    },
    /** One row for many intervals of which nothing is known, all for the same reason. */
    gap(slots: readonly Slot[]): FigureRow[] {
      const [first, last] = [slots[0], slots.at(-1)];
      if (!first || !last || slots.length <= MAX_SINGLE_GAPS) return slots.map((slot) => this.slot(slot, 1));
      const span = times({ start: first.start, end: last.end });
      const cells = [...span, ...columns.map(() => null), spanText(slots), first.status];
      return [{ group, tone: TONES[first.status], cells }];
    },
    peak({ name, from, until, values, factors }: MarkedPeak): FigureRow[] {
      const hour = times({ start: from, end: until });
      return [
        { group, tone: 'peak', together: 2, cells: [...hour, ...values, `${name} peak hour`, ''] },
        { group, tone: 'peak', cells: [...hour, ...factors, `${name} PHF`, ''] },
      ];
    },
  };
}

/** More gaps in succession are one row. */
const MAX_SINGLE_GAPS = 2;

function rowsOfDay(study: SlotsOfStudy, { day, from, until, bins }: DayOfBins<Slot>): FigureRow[] {
  const { settings, peaks, hasHours } = study;
  const write = writerOf(study, `${weekdayName(day)}, ${createLocalTime(settings).showDay(day)}`);
  const rows: FigureRow[] = [];
  let gap: Slot[] = [];
  const closeGap = (): void => {
    rows.push(...write.gap(gap));
    gap = [];
  };
  const hours = hasHours
    ? hoursOf({ day, from, until, bins }, settings.timezone)
    : [{ start: from, end: until }];
  for (const hour of hours) {
    const within = bins.filter(({ start }) => start >= hour.start && start < hour.end);
    for (const [n, slot] of within.entries())
      if (slot.volume === null) {
        if (gap.at(-1)?.status !== slot.status) closeGap();
        gap.push(slot);
      } else {
        closeGap();
        rows.push(write.slot(slot, hasHours && n === 0 ? within.length + 1 : 1));
      }
    if (!hasHours || within.every(({ volume }) => volume === null)) continue;
    closeGap();
    rows.push(write.sum(within, 'Hour'));
  }
  closeGap();
  if (bins.length > 1) rows.push(write.sum(bins, 'Day'));
  rows.push(...peaks.filter((peak) => peak.from >= from && peak.from < until).flatMap(write.peak));
  return rows;
}

/** How many intervals these are, such as 30 × 15 min. */
function spanText(slots: readonly Slot[]): string {
  const [first] = slots;
  return `${slots.length} × ${first ? (first.end - first.start) / MINUTE_MS : 0} min`;
}

/** Columns with the short names that narrow columns have on pages. */
function onPages(columns: readonly Column[]): Column[] {
  return columns.map((column) => ({ ...column, name: SHORT[column.name] ?? column.name }));
}

const SHORT: Readonly<Record<string, string>> = { Through: 'Thru', Pedestrians: 'Peds', Bicycles: 'Bikes' };

/** A table for pages: in its columns of numbers, a dash where there is none; without columns of texts that have none. */
export function dashed({ columns, rows }: FigureTable): FigureTable {
  const isText = columns.map(({ type }) => type === 'text' || type === 'date');
  const isShown = columns.map((_, n) => !isText[n] || rows.some(({ cells }) => (cells[n] ?? '') !== ''));
  const cellsOf = (cells: Row): Row =>
    cells.map((cell, n) => (isText[n] ? cell : (cell ?? '–'))).filter((_, n) => isShown[n]);
  return {
    columns: columns.filter((_, n) => isShown[n]),
    rows: rows.map((row) => ({ ...row, cells: cellsOf(row.cells) })),
  };
}

/** The spans with counts, in words, if there are few. */
export function knownSpans(slots: readonly Count[], { settings }: Setting): string[] {
  const clock = clockIn(settings);
  const spans: { from: number; until: number }[] = [];
  for (const { start, end, volume } of slots) {
    if (volume === null) continue;
    const last = spans.at(-1);
    if (last?.until === start) last.until = end;
    else spans.push({ from: start, until: end });
  }
  if (spans.length === 0 || spans.length > MAX_SPANS) return [];
  const { showDay } = createLocalTime(settings);
  const said = spans.map(({ from, until }) => {
    const first = `${showDay(clock.day(from))} ${clock.from(from)}`;
    const last = clock.day(until - 1);
    const end = clock.until(until - 1, until);
    return `${first}–${last === clock.day(from) ? '' : `${showDay(last)} `}${end}`;
  });
  return [`Counts are known for ${said.join(', ')}.`];
}

const MAX_SPANS = 12;

function total(slots: readonly Slot[], n: number): number {
  return slots.reduce((sum, { volume, values }) => sum + (volume === null ? 0 : (values[n] ?? 0)), 0);
}

/** A peak hour factor as it is printed. */
export function factorText(factor: number | null | undefined): string {
  if (factor === null || factor === undefined) return '–';
  return factor.toLocaleString('en', { minimumFractionDigits: 3, maximumFractionDigits: 3 });
}

/** A row of a sheet, without what only pages have. */
export function sheetOf(name: string, { columns, rows }: FigureTable): Sheet {
  return { name, columns, rows: rows.map(({ cells }): Row => cells) };
}
