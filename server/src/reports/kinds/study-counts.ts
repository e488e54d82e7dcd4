import type { CountsOfPlace, DailyVolumesOfPlace, PeakHoursOfPlace } from '@gantry/contract/figures';
import { legs, turns } from '@gantry/contract/values';
import { createLocalTime } from '../../platform/local-time.ts';
import type { Leg, Turn } from '../../traffic/bin.ts';
import { binsByDay, hoursOf } from '../../traffic/local-hours.ts';
import type { Cell, Chapter, Column, Figure, FigureRow, FigureTable, Tone } from '../document.ts';
import {
  clockIn,
  dashed,
  factorText,
  type Json,
  knownSpans,
  type MarkedPeak,
  nameOfApproach,
  nameOfDirection,
  type Setting,
  type Sheet,
  type Slot,
  sheetOf,
  TONES,
  tableOfSlots,
  weekdayName,
} from './study-rows.ts';

// The pages of counts, and of peak hours.

/** The figures of a kind of study, for pages and sheets. */
export interface Content {
  readonly figures: readonly Figure[];
  readonly chapters: readonly Chapter[];
  readonly sheets: readonly Sheet[];
  /** What limits the figures. */
  readonly notes: readonly string[];
}

export type PeakFigures = Json<Omit<PeakHoursOfPlace, 'timezone'>>;
type Peak = PeakFigures['days'][number]['windows'][number];

export interface VolumeFigures extends Json<DailyVolumesOfPlace> {
  readonly interval: '15min' | '60min' | 'day';
  readonly bins: Json<CountsOfPlace['bins']>;
  readonly total: number;
  readonly coverage: number;
  readonly peaks: PeakFigures | null;
}

const MINUTES = { '15min': '15 minutes', '60min': 'hour', day: 'day' } as const;

/** A count, such as of 24 hours or 7 days. */
export function pagesOfVolume(figures: VolumeFigures, setting: Setting): Content {
  const directions = directionsOf(figures.bins);
  const columns: Column[] = [
    ...directions.map(
      (name): Column => ({ name, type: 'integer', width: 12, group: 'Motor vehicles by direction' }),
    ),
    { name: 'Vehicles', type: 'integer', width: 12 },
  ];
  const slots = figures.bins.map((bin): Slot => {
    const { start, end, status, coverage, volume, cells } = bin;
    const sums = directions.map((name) =>
      cells.reduce((sum, cell) => sum + (directionOf(cell) === name ? cell.volume : 0), 0),
    );
    const count = { status, coverage, volume };
    return { ...count, start: Date.parse(start), end: Date.parse(end), values: [...sums, volume ?? 0] };
  });
  const peaks = markedPeaks(figures.peaks, directions);
  const counts = tableOfSlots({ ...setting, slots, columns, peaks, hasHours: figures.interval === '15min' });
  const week =
    figures.interval !== 'day' && figures.days.length > 1 ? weekChapters(figures, slots, setting) : [];
  const days = tableOfDays(figures);
  const peakTables = figures.peaks ? pagesOfPeaks(figures.peaks, setting) : NOTHING;
  const unit = MINUTES[figures.interval];
  return {
    figures: [
      { name: 'Motor vehicles', value: knownCount(figures.total, figures) },
      ...averages(figures),
      ...(figures.days.length === 1 ? peakTables.figures : []),
    ],
    chapters: [
      ...week,
      ...(figures.days.length > 1
        ? [{ title: 'Volumes by day', words: meansInWords(figures), table: dashed(days) }]
        : []),
      ...peakTables.chapters,
      { title: `Counts by ${unit}`, table: counts.table },
    ],
    sheets: [
      { name: `Counts by ${unit}`, ...counts.sheet },
      sheetOf('Days', { ...days, columns: inZone(days.columns, setting) }),
      ...peakTables.sheets,
    ],
    notes: [
      ...(figures.days.length === 1 ? knownSpans(slots, setting) : []),
      ...figures.excluded.map(
        ({ date, reason }) =>
          `${createLocalTime(setting.settings).showDay(date)} is not a complete day, and is in no mean: ${reason}.`,
      ),
    ],
  };
}

/** A sum, unless nothing is known. */
export function knownCount(sum: number, { coverage }: { coverage: number }): number | string {
  return sum === 0 && coverage === 0 ? 'not known' : sum;
}

const NOTHING: Content = { figures: [], chapters: [], sheets: [], notes: [] };

const NO_DIRECTION = 'Direction not known';

function directionOf({ direction }: { direction?: string | number | undefined }): string {
  return direction === undefined ? NO_DIRECTION : nameOfDirection(direction);
}

/** The directions that were counted; none if that is not known of any vehicle. */
function directionsOf(bins: VolumeFigures['bins']): string[] {
  const found = new Set(bins.flatMap(({ cells }) => cells.map(directionOf)));
  const known = [...found].filter((name) => name !== NO_DIRECTION).sort();
  if (known.length === 0) return [];
  return found.has(NO_DIRECTION) ? [...known, NO_DIRECTION] : known;
}

function markedPeaks(peaks: PeakFigures | null, directions: readonly string[]): MarkedPeak[] {
  const all = (peaks?.days ?? []).flatMap(({ windows }) => windows);
  return all.flatMap(({ window, start, end, volume, peakHourFactor, by }) => {
    if (window === 'DAY' || start === null || end === null) return [];
    const partOf = (name: string) => by.find((part) => directionOf(part) === name);
    return [
      {
        name: window,
        from: Date.parse(start),
        until: Date.parse(end),
        values: [...directions.map((name) => partOf(name)?.volume ?? 0), volume],
        factors: [
          ...directions.map((name) => factorText(partOf(name)?.peakHourFactor)),
          factorText(peakHourFactor),
        ],
      },
    ];
  });
}

function averages({ adt, awdt, weekendAdt, days }: VolumeFigures): Figure[] {
  if (days.length === 1) return [];
  const named = [
    { name: 'Average daily traffic', mean: adt },
    { name: 'Monday to Friday', mean: awdt },
    { name: 'Saturday and Sunday', mean: weekendAdt },
  ];
  return named.map(({ name, mean: { value, n } }) => ({
    name: `${name} (${n} complete ${n === 1 ? 'day' : 'days'})`,
    value: value === null ? 'none' : Math.round(value),
  }));
}

function meansInWords({ days, excluded }: VolumeFigures): string[] {
  return excluded.length === 0
    ? []
    : [
        `${days.length - excluded.length} of ${days.length} days are complete. Means are of complete days only.`,
      ];
}

/** In a sheet, the first column names the time zone of its days. */
function inZone(columns: readonly Column[], { settings }: Setting): Column[] {
  return columns.map((column, n) =>
    n === 0 ? { ...column, name: `${column.name} (${settings.timezone})` } : column,
  );
}

function tableOfDays({ days }: VolumeFigures): FigureTable {
  return {
    columns: [
      { name: 'Day', type: 'date', width: 12 },
      { name: 'Weekday', type: 'text', width: 12 },
      { name: 'Vehicles', type: 'integer', width: 12 },
      { name: 'Status', type: 'text', width: 14 },
      { name: 'Why it is not complete', type: 'text', width: 40 },
    ],
    rows: days.map(({ date, volume, status, reason }) => ({
      tone: TONES[status],
      cells: [date, weekdayName(date), volume, status, reason],
    })),
  };
}

const DAYS_IN_TABLE = 7;
/** What stands after the number of an hour that is not whole. */
const MARKS: Readonly<Partial<Record<Tone, string>>> = { partial: '*', provisional: '†', excluded: '×' };

/** The volume of each hour of each day, seven days in a table. */
function weekChapters(figures: VolumeFigures, slots: readonly Slot[], setting: Setting): Chapter[] {
  const { range, settings } = setting;
  const local = createLocalTime(settings);
  const clock = clockIn(settings);
  const days = binsByDay(slots, range, settings.timezone).map((day) => ({
    day,
    hours: hoursOf(day, settings.timezone),
  }));
  const chapters: Chapter[] = [];
  for (let at = 0; at < days.length; at += DAYS_IN_TABLE) {
    const shown = days.slice(at, at + DAYS_IN_TABLE);
    const times = [
      ...new Set(shown.flatMap(({ hours }) => hours.map(({ start }) => clock.from(start)))),
    ].sort();
    const rows = times.map((time): FigureRow => {
      const hours = shown.map(({ hours: all }) => all.find(({ start }) => clock.from(start) === time));
      const tones = hours.map((hour) => hour && TONES[hour.status]);
      const valid = hours.flatMap((hour) =>
        hour?.status === 'VALID' && hour.volume !== null ? [hour.volume] : [],
      );
      const mean = valid.length > 0 ? valid.reduce((sum, volume) => sum + volume, 0) / valid.length : null;
      return {
        cells: [time, ...hours.map((hour, n) => (hour ? markedVolume(hour.volume, tones[n]) : null)), mean],
        tones: new Map(tones.flatMap((tone, n) => (tone ? [[n + 1, tone] as const] : []))),
      };
    });
    const totals = shown.map(({ day }) => figures.days.find(({ date }) => date === day.day));
    const means = totals.flatMap((day) => (day?.status === 'VALID' ? [day.volume ?? 0] : []));
    const sums: Cell[] = totals.map((day) => markedVolume(day?.volume ?? null, day && TONES[day.status]));
    const mean = means.length > 0 ? means.reduce((sum, volume) => sum + volume, 0) / means.length : null;
    rows.push({ tone: 'total', cells: ['Day', ...sums, mean] });
    rows.push(
      ...peakRows(
        figures.peaks,
        shown.map(({ day }) => day.day),
        clock,
      ),
    );
    const columns: Column[] = [
      { name: 'Hour from', type: 'text', width: 13 },
      ...shown.map(
        ({ day: { day } }): Column => ({
          name: local.showDay(day),
          type: 'integer',
          width: 12,
          group: weekdayName(day),
        }),
      ),
      { name: 'Mean of whole hours', type: 'decimal', digits: 1, width: 13 },
    ];
    chapters.push({ title: 'Motor vehicles by hour and day', words: [LEGEND], table: { columns, rows } });
  }
  return chapters;
}

const LEGEND =
  '* PARTIAL: a part of the hour is not known. † PROVISIONAL: not over. – GAP: nothing is known. × EXCLUDED: its data were rejected. Empty: the day has no such hour. 0 is a count.';

function markedVolume(volume: number | null, tone: Tone | undefined): Cell {
  if (volume === null) return tone === 'excluded' ? '×' : '–';
  const mark = tone && MARKS[tone];
  return mark ? `${volume.toLocaleString('en')} ${mark}` : volume;
}

/** When the peak hours of the days were, and what they counted. */
function peakRows(
  peaks: PeakFigures | null,
  days: readonly string[],
  clock: ReturnType<typeof clockIn>,
): FigureRow[] {
  if (!peaks) return [];
  return (['AM', 'PM'] as const).flatMap((window): FigureRow[] => {
    const found = days.map((day) =>
      peaks.days.find(({ date }) => date === day)?.windows.find((each) => each.window === window),
    );
    if (found.every((peak) => !peak?.start)) return [];
    const cellsOf = (show: (peak: Peak) => Cell): Cell[] =>
      found.map((peak) => (peak?.start ? show(peak) : '–'));
    const time = ({ start }: Peak): string => clock.from(Date.parse(start ?? ''));
    return [
      { tone: 'peak', cells: [`${window} peak from`, ...cellsOf(time), null] },
      { tone: 'peak', cells: [`${window} vehicles`, ...cellsOf(({ volume }) => volume), null] },
      {
        tone: 'peak',
        cells: [`${window} PHF`, ...cellsOf(({ peakHourFactor }) => factorText(peakHourFactor)), null],
      },
    ];
  });
}

const PARTIAL_WINDOW =
  'PARTIAL: a part of the window is not known, so another hour of it may have been busier.';

const PEAK_COLUMNS: readonly Column[] = [
  { name: 'Window', type: 'text', width: 9 },
  { name: 'From', type: 'text', width: 9 },
  { name: 'Until', type: 'text', width: 9 },
  { name: 'Vehicles', type: 'integer', width: 10 },
  { name: 'Peak hour factor', type: 'decimal', digits: 3, width: 10 },
  { name: 'K', type: 'decimal', digits: 3, width: 8 },
  { name: 'D', type: 'decimal', digits: 3, width: 8 },
  { name: 'Heavier direction', type: 'text', width: 13 },
  { name: 'Heavy vehicles (T)', type: 'share', digits: 1, width: 10 },
  { name: 'Whole quarter hours', type: 'integer', width: 10 },
  { name: 'Status', type: 'text', width: 14 },
  { name: 'Reason', type: 'text', width: 26 },
];

/** Peak hours by day, of the average day, and of their parts. */
export function pagesOfPeaks({ days, average }: PeakFigures, setting: Setting): Content {
  const { settings } = setting;
  const [local, clock] = [createLocalTime(settings), clockIn(settings)];
  const timeOf = (time: string | null): string | null =>
    time === null ? null : clock.from(Date.parse(time));
  const groups = [
    ...days.map(({ date, windows }) => ({
      name: `${weekdayName(date)}, ${local.showDay(date)}`,
      windows: windows.map((peak) => ({
        ...peak,
        start: timeOf(peak.start),
        end:
          peak.start && peak.end
            ? clock.until(Date.parse(peak.start), Date.parse(peak.end))
            : timeOf(peak.end),
      })),
    })),
    ...(average && days.length > 1
      ? [{ name: `Average of ${average.n} days`, windows: average.windows }]
      : []),
  ];
  const rows = groups.flatMap(({ name, windows }) =>
    windows.map(
      (peak, n): FigureRow => ({
        group: name,
        tone: TONES[peak.status] ?? (peak.start ? undefined : 'gap'),
        together: n === 0 ? windows.length : 1,
        cells: peakCells(peak),
      }),
    ),
  );
  const parts = groups.flatMap(({ name, windows }) =>
    windows.filter(isFirst).flatMap(({ window, start, end, volume, by }) =>
      by.toSorted(compareParts).map(
        (part): FigureRow => ({
          group: name,
          cells: [
            window,
            start,
            end,
            partName(part),
            part.volume,
            volume ? part.volume / volume : null,
            part.peakHourFactor,
          ],
        }),
      ),
    ),
  );
  const isPartial = groups.some(({ windows }) => windows.some(({ status }) => status === 'PARTIAL'));
  const byDay = { columns: PEAK_COLUMNS, rows };
  const byPart = { columns: PART_COLUMNS, rows: parts };
  const hasParts = groups.some(({ windows }) => windows.some(({ by }) => by.length > 1));
  const withDay = (name: string, { columns, rows: all }: FigureTable): Sheet => ({
    name,
    columns: [{ name: `Day (${settings.timezone})`, type: 'text', width: 16 }, ...columns],
    rows: all.map(({ group, cells }) => [group ?? null, ...cells]),
  });
  return {
    figures: days.length === 1 ? peakTiles(days[0]?.windows ?? [], clock) : [],
    chapters: [
      { title: 'Peak hours', words: isPartial ? [PARTIAL_WINDOW] : [], table: dashed(byDay) },
      ...(hasParts ? [{ title: 'Peak hours by direction and movement', table: dashed(byPart) }] : []),
    ],
    sheets: [withDay('Peak hours', byDay), ...(hasParts ? [withDay('Parts of peak hours', byPart)] : [])],
    notes: [],
  };
}

const PART_COLUMNS: readonly Column[] = [
  { name: 'Window', type: 'text', width: 10 },
  { name: 'From', type: 'text', width: 10 },
  { name: 'Until', type: 'text', width: 10 },
  { name: 'Direction or movement', type: 'text', width: 36 },
  { name: 'Vehicles', type: 'integer', width: 12 },
  { name: 'Share of the hour', type: 'share', digits: 1, width: 12 },
  { name: 'Peak hour factor', type: 'decimal', digits: 3, width: 12 },
];

/** Whether no window before it has the same hour. */
function isFirst<Each extends { readonly start: string | null }>(
  one: Each,
  n: number,
  all: readonly Each[],
): boolean {
  return all.findIndex(({ start }) => start === one.start) === n;
}

type Part = Peak['by'][number];

function compareParts(a: Part, b: Part): number {
  const place = ({ movement, direction }: Part): string => {
    const [leg, turn] = [legs.indexOf(movement?.from as Leg), turns.indexOf(movement?.turn as Turn)];
    return `${leg} ${turn} ${direction ?? ''}`;
  };
  return place(a) < place(b) ? -1 : 1;
}

const TURNS: Readonly<Record<string, string>> = { L: 'left', T: 'through', R: 'right', U: 'U-turn' };

function partName({ direction, movement }: Part): string {
  const words = [
    movement && nameOfApproach(movement.from as Parameters<typeof nameOfApproach>[0]),
    movement?.turn && TURNS[movement.turn],
    direction === undefined ? undefined : nameOfDirection(direction),
  ];
  return words.filter((word) => word !== undefined).join(', ') || 'Not known';
}

function peakCells(peak: Omit<Peak, 'start' | 'end'> & { start: string | null; end: string | null }): Cell[] {
  const { window, start, end, volume, peakHourFactor, k, d, dDirection, t, validBins, status, reason } = peak;
  const direction = dDirection === null ? null : nameOfDirection(dDirection);
  return [window, start, end, volume, peakHourFactor, k, d, direction, t, validBins, status, reason];
}

/** The peaks of one day, as tiles. */
export function peakTiles(
  windows: readonly Pick<Peak, 'window' | 'start' | 'end' | 'volume' | 'peakHourFactor'>[],
  clock: ReturnType<typeof clockIn>,
): Figure[] {
  return windows.flatMap(({ window, start, end, volume, peakHourFactor }) => {
    if (!start || !end || (window !== 'AM' && window !== 'PM')) return [];
    const [from, until] = [Date.parse(start), Date.parse(end)];
    const time = `${clock.from(from)}–${clock.until(from, until)}`;
    return [
      { name: `${window} peak hour ${time}, vehicles`, value: volume ?? 0 },
      { name: `${window} peak hour factor`, value: factorText(peakHourFactor) },
    ];
  });
}
