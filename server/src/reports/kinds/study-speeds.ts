import { roundTo } from '../../traffic/bin.ts';
import type { Comparison, Difference } from '../../traffic/comparison.ts';
import type { SpeedStudy } from '../../traffic/speed-study.ts';
import {
  type Chapter,
  type Column,
  type Figure,
  type FigureRow,
  type FigureTable,
  type Histogram,
  UNIT_NAMES,
} from '../document.ts';
import type { Content } from './study-counts.ts';
import { dashed, type Json, sheetOf } from './study-rows.ts';

// The pages of speeds, at one time or before and after a measure.

export type SpeedFigures = Json<SpeedStudy>;
export type ComparisonFigures = Json<Comparison> & {
  readonly before: SpeedFigures & { readonly coverage: number };
  readonly after: SpeedFigures & { readonly coverage: number };
};

/** The classes of the table, if the study has none of its own: as wide as those of a tally sheet. */
const CLASS_WIDTH = 5;

function unitOf({ units }: Pick<SpeedFigures, 'units'>): string {
  return UNIT_NAMES[units];
}

function speedText(speed: number | null, unit: string): string {
  return speed === null ? '–' : `${speed.toFixed(1)} ${unit}`;
}

function shareText(share: number | null): string {
  return share === null ? '–' : `${(share * 100).toFixed(1)} %`;
}

/** A speed study. */
export function pagesOfSpeeds(figures: SpeedFigures): Content {
  const unit = unitOf(figures);
  const { n, bins, limit, v15, v50, v85, mean, reason } = figures;
  const classes = tableOfClasses(bins, unit);
  return {
    figures: [
      { name: 'Vehicles with a speed', value: n },
      { name: 'V15', value: speedText(v15, unit) },
      { name: 'V50 (median)', value: speedText(v50, unit) },
      { name: 'V85', value: speedText(v85, unit) },
      { name: 'Mean', value: speedText(mean, unit) },
      { name: 'Speed limit', value: limit === null ? 'none, or changed' : `${limit} ${unit}` },
    ],
    chapters: [
      {
        title: 'Distribution of speeds',
        drawings: bins.length > 0 ? [histogramOf(figures, 'Vehicles by speed')] : [],
        words: bins.length > 0 ? [] : ['No vehicle has a speed.'],
      },
      { title: 'Figures of the speeds', words: verdictsOf(figures), table: tableOfFigures(figures, onPage) },
      ...(bins.length > 0 ? [{ title: 'Vehicles by class of speed', table: classes }] : []),
    ],
    sheets: [
      sheetOf('Figures', tableOfFigures(figures, inSheet)),
      sheetOf('Speeds', tableOfBins(bins, unit)),
      sheetOf('Classes', classes),
    ],
    notes: reason === null ? [] : [`${reason}.`],
  };
}

/** Whether the sample is large enough, and what is not known, in sentences. */
function verdictsOf({ n, sampleSize, v85Confidence, units, pace }: SpeedFigures): string[] {
  const unit = UNIT_NAMES[units];
  const said: string[] = [];
  if (sampleSize) {
    const { needed, margin } = sampleSize;
    const verdict = n >= needed ? 'the sample is large enough' : 'the sample is too small for that';
    said.push(
      `To know V85 to ±${margin} ${unit} with a confidence of 95 %, ${needed.toLocaleString('en')} vehicles are needed; ${n.toLocaleString('en')} were measured: ${verdict}.`,
    );
  }
  if (v85Confidence)
    said.push(
      `With a confidence of 95 %, V85 is between ${v85Confidence.low.toFixed(1)} and ${v85Confidence.high.toFixed(1)} ${unit}.`,
    );
  if (pace)
    said.push(
      `The pace is ${pace.from} to under ${pace.to} ${unit}, with ${shareText(pace.share)} of the vehicles; ${shareText(pace.below)} are slower and ${shareText(pace.above)} faster.`,
    );
  return said;
}

const NAME: Column = { name: 'Figure', type: 'text', width: 34 };
const UNIT: Column = { name: 'Unit', type: 'text', width: 50 };

function valueColumn(name: string, show: Show): Column {
  return { name, type: 'decimal', width: 14, ...(show === onPage && { digits: 1 }) };
}

type Line = readonly [name: string, value: number | null, unit: string];

function linesOf({
  mean,
  sd,
  v15,
  v50,
  v85,
  v95,
  v98,
  max,
  limit,
  pace,
  over,
  v85Confidence,
  sampleSize,
  n,
  units,
}: SpeedFigures): Line[] {
  const unit = UNIT_NAMES[units];
  const percent = (share: number | null | undefined): number | null =>
    share === null || share === undefined ? null : share * 100;
  return [
    ['Vehicles with a speed', n, 'vehicles'],
    ['Speed limit', limit, unit],
    ['Mean', mean, unit],
    ['Standard deviation', sd, unit],
    ['V15', v15, unit],
    ['V50 (median)', v50, unit],
    ['V85', v85, unit],
    ['V85, lower end of the 95 % confidence interval', v85Confidence?.low ?? null, unit],
    ['V85, upper end of the 95 % confidence interval', v85Confidence?.high ?? null, unit],
    ['V95', v95, unit],
    ['V98', v98, unit],
    ['Highest speed', max, unit],
    ['Pace, from', pace?.from ?? null, unit],
    ['Pace, to (excluded)', pace?.to ?? null, unit],
    ['In the pace', percent(pace?.share), '% of the vehicles'],
    ...over.map(
      ({ by, share }): Line => [
        by === 0 ? 'Faster than the limit' : `Faster than the limit by more than ${by} ${unit}`,
        percent(share),
        '% of the vehicles with a limit',
      ],
    ),
    [
      'Sample needed for V85',
      sampleSize?.needed ?? null,
      `vehicles, for ±${sampleSize?.margin ?? '–'} ${unit} at 95 %`,
    ],
  ];
}

const WHOLE: ReadonlySet<string> = new Set([
  'Vehicles with a speed',
  'Pace, from',
  'Pace, to (excluded)',
  'Sample needed for V85',
]);

type Show = (name: string, value: number | null) => string | number | null;

/** A value on a page: counts and the pace are whole. */
const onPage: Show = (name, value) => {
  if (value === null) return '–';
  return WHOLE.has(name) ? value.toLocaleString('en') : value;
};
/** A value in a sheet. */
const inSheet: Show = (_, value) => value;

function tableOfFigures(figures: SpeedFigures, show: Show): FigureTable {
  return {
    columns: [NAME, valueColumn('Value', show), UNIT],
    rows: linesOf(figures).map(
      ([name, value, unit]): FigureRow => ({ cells: [name, show(name, value), unit] }),
    ),
  };
}

interface Class {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Classes of five units if those of the study are of one. */
function classesOf(bins: readonly Class[]): Class[] {
  if (bins.some(({ from, to }) => from !== to)) return [...bins];
  const sums = new Map<number, number>();
  for (const { from, count } of bins) {
    const start = Math.floor(from / CLASS_WIDTH) * CLASS_WIDTH;
    sums.set(start, (sums.get(start) ?? 0) + count);
  }
  return [...sums].map(([from, count]) => ({ from, to: from + CLASS_WIDTH - 1, count }));
}

function tableOfClasses(bins: readonly Class[], unit: string): FigureTable {
  return tableOfBins(classesOf(bins), unit);
}

function tableOfBins(bins: readonly Class[], unit: string): FigureTable {
  const all = bins.reduce((sum, { count }) => sum + count, 0);
  let below = 0;
  const rows = bins.map(({ from, to, count }): FigureRow => {
    below += count;
    return { cells: [from, to + 1, count, count / Math.max(1, all), below, below / Math.max(1, all)] };
  });
  return {
    columns: [
      { name: `From (${unit})`, type: 'integer', width: 12 },
      { name: `To under (${unit})`, type: 'integer', width: 12 },
      { name: 'Vehicles', type: 'integer', width: 12 },
      { name: 'Share', type: 'share', digits: 1, width: 12 },
      { name: 'Cumulative vehicles', type: 'integer', width: 14 },
      { name: 'Cumulative share', type: 'share', digits: 1, width: 14 },
    ],
    rows,
  };
}

function histogramOf(figures: SpeedFigures, title: string, span = spanOf([figures])): Histogram {
  const { bins, v15, v50, v85, pace, limit, n } = figures;
  const unit = unitOf(figures);
  const mark = (label: string, speed: number | null) =>
    speed === null ? [] : [{ label: `${label} ${speed.toFixed(1)}`, speed }];
  const marks = [
    ...mark('V15', v15),
    ...mark('V50', v50),
    ...mark('V85', v85),
    ...(limit === null ? [] : [{ label: `Limit ${limit}`, speed: limit, isLimit: true }]),
  ];
  const band = pace && { label: `Pace ${pace.from}–${pace.to}`, from: pace.from, to: pace.to };
  const words = [
    `${title}, ${n.toLocaleString('en')} vehicles, in ${unit}`,
    ...marks.map(({ label }) => label),
    ...(band ? [`${band.label}: ${shareText(pace?.share ?? null)}`] : []),
    ...classesOf(bins).map(({ from, to, count }) => `${from} to under ${to + 1}: ${count}`),
  ];
  return { shape: 'histogram', title, unit, ...span, bins, marks, band, alt: `${words.join('; ')}.` };
}

/** The axis that all histograms have in common, in steps of ten units. */
function spanOf(all: readonly SpeedFigures[]): { from: number; until: number } {
  const bins = all.flatMap((each) => each.bins).filter(({ count }) => count > 0);
  const limits = all.flatMap(({ limit }) => limit ?? []);
  const from = Math.min(...bins.map((bin) => bin.from), ...limits);
  const until = Math.max(...bins.map((bin) => bin.to + 1), ...limits);
  return { from: Math.floor(from / 10) * 10, until: Math.ceil((until + 1) / 10) * 10 };
}

/** Speeds before and after a measure. */
export function pagesOfComparison(figures: ComparisonFigures): Content {
  const { before, after } = figures;
  const unit = unitOf(before);
  const sides = [
    { name: 'Before', of: before },
    { name: 'After', of: after },
  ];
  const drawn = sides.filter(({ of }) => of.bins.length > 0);
  const span = drawn.length > 0 ? spanOf(drawn.map(({ of }) => of)) : undefined;
  const distributions: Chapter = {
    title: 'Distributions of speeds',
    drawings: drawn.map(({ name, of }) =>
      histogramOf(of, `${name}: ${of.n.toLocaleString('en')} vehicles`, span),
    ),
  };
  return {
    figures: sides.flatMap(({ name, of }): Figure[] => [
      { name: `${name}: vehicles with a speed`, value: of.n },
      { name: `${name}: mean`, value: speedText(of.mean, unit) },
      { name: `${name}: V85`, value: speedText(of.v85, unit) },
    ]),
    chapters: [
      { title: 'Result', words: resultInWords(figures, unit), table: dashed(tableOfTests(figures, onPage)) },
      ...(drawn.length > 0 ? [distributions] : []),
      { title: 'Figures before and after', table: tableOfComparison(figures, onPage) },
    ],
    sheets: [
      sheetOf('Tests', tableOfTests(figures, inSheet)),
      sheetOf('Figures', tableOfComparison(figures, inSheet)),
      sheetOf('Speeds before', tableOfBins(before.bins, unit)),
      sheetOf('Speeds after', tableOfBins(after.bins, unit)),
    ],
    notes: sides.flatMap(({ name, of }) => [
      ...(of.reason === null ? [] : [`${name}: ${of.reason}.`]),
      ...(of.coverage < 0.95
        ? [`${name}: counts are known for ${shareText(of.coverage)} of the range.`]
        : []),
    ]),
  };
}

/** What is compared, in the units that are read: shares in percentage points. */
function comparedOf({ mean, share, v85 }: ComparisonFigures, unit: string) {
  const inPoints = share.difference === null ? null : roundTo(share.difference * 100, 2);
  return [
    { name: 'Mean speed', of: mean, unit },
    { name: 'V85', of: v85, unit },
    { name: 'Share over the limit', of: { ...share, difference: inPoints }, unit: 'percentage points' },
  ];
}

function resultInWords(figures: ComparisonFigures, ofSpeeds: string): string[] {
  return comparedOf(figures, ofSpeeds).map(({ name, of, unit }) => {
    const { difference, p, significant, reason } = of;
    if (difference === null || p === null) return `${name}: not tested. ${reason ?? ''}.`;
    const change = `${Math.abs(difference).toFixed(1)} ${unit} ${difference > 0 ? 'lower' : 'higher'} after than before`;
    const verdict = significant
      ? 'The difference is significant at the level of 5 %'
      : 'The difference is not significant at the level of 5 %: it may be due to chance';
    const said = difference === 0 ? 'the same after as before' : change;
    return `${name}: ${said}. ${verdict} (p ${p < MIN_P ? '<' : '='} ${pText(p)}).`;
  });
}

/** Smaller probabilities are only said to be smaller. */
const MIN_P = 0.0001;

function pText(p: number): string {
  return Math.max(MIN_P, p).toFixed(4);
}

function tableOfTests(figures: ComparisonFigures, show: Show): FigureTable {
  const verdictOf = ({ significant }: Difference): string =>
    significant === null ? 'not tested' : significant ? 'significant at 5 %' : 'not significant at 5 %';
  const pOf = (p: number | null) => (show === onPage && p !== null && p < MIN_P ? `< ${pText(p)}` : p);
  return {
    columns: [
      { name: 'Figure', type: 'text', width: 22 },
      { ...valueColumn('Before − after', show), width: 12 },
      { name: 'Unit', type: 'text', width: 16 },
      { name: 'z or t', type: 'decimal', digits: 4, width: 10 },
      { name: 'p (two-sided)', type: 'decimal', digits: 4, width: 12 },
      { name: 'Verdict', type: 'text', width: 22 },
      { name: 'Reason', type: 'text', width: 30 },
    ],
    rows: comparedOf(figures, unitOf(figures.before)).map(({ name, of, unit }) => ({
      cells: [name, of.difference, unit, of.z, pOf(of.p), verdictOf(of), of.reason],
    })),
  };
}

function tableOfComparison({ before, after }: ComparisonFigures, show: Show): FigureTable {
  const later = linesOf(after);
  return {
    columns: [NAME, valueColumn('Before', show), valueColumn('After', show), UNIT],
    rows: linesOf(before).map(([name, value, unit], n) => ({
      cells: [name, show(name, value), show(name, later[n]?.[1] ?? null), unit],
    })),
  };
}
