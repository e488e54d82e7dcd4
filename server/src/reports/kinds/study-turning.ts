import type { TurningMovementsOfPlace } from '@gantry/contract/turning-movements';
import { classSchemes } from '@gantry/contract/vehicle-classes';
import { createLocalTime } from '../../platform/local-time.ts';
import { LEGS, type Leg, type Turn } from '../../traffic/bin.ts';
import { exitOf } from '../../traffic/turning-movements.ts';
import type { Chapter, Column, Crossing, FigureRow, FigureTable } from '../document.ts';
import { type Content, knownCount, peakTiles } from './study-counts.ts';
import {
  clockIn,
  dashed,
  factorText,
  type Json,
  knownSpans,
  type MarkedPeak,
  nameOfApproach,
  type Setting,
  type Sheet,
  type Slot,
  tableOfSlots,
  weekdayName,
} from './study-rows.ts';

// The pages of a turning movement count.

export type TurningFigures = Json<TurningMovementsOfPlace> & { readonly coverage: number };
type Totals = TurningFigures['total'];
type Peak = TurningFigures['peaks'][number];
type Movement = Totals['movements'][number];

const TURNS: readonly Turn[] = ['L', 'T', 'R', 'U'];
const TURN_NAMES = { L: 'Left', T: 'Through', R: 'Right', U: 'U-turn' } as const;

/** Days whose peak hours have a page of their own. */
const MAX_DRAWN_DAYS = 7;

interface Approach {
  readonly leg: Leg;
  readonly turns: readonly Turn[];
}

function isOf(leg: Leg, turn: Turn) {
  return (movement: Pick<Movement, 'from' | 'turn'>) => movement.from === leg && movement.turn === turn;
}

function volumeOf(list: readonly { leg: Leg; volume: number }[], leg: Leg): number {
  return list.find((each) => each.leg === leg)?.volume ?? 0;
}

/** The legs that vehicles come from, with the turns that they made. */
function approachesOf({ movements }: Totals): Approach[] {
  return LEGS.flatMap((leg) => {
    const turns = TURNS.filter((turn) => movements.some(isOf(leg, turn)));
    return turns.length > 0 ? [{ leg, turns }] : [];
  });
}

/** A turning movement count: diagrams and tables of the peak hours, and the count of every quarter hour. */
export function pagesOfTurning(figures: TurningFigures, setting: Setting): Content {
  const { total, bins, peaks } = figures;
  const { settings } = setting;
  const approaches = approachesOf(total);
  const columns = columnsOf(approaches);
  const slots = bins.map((bin): Slot => {
    const { start, end, status, coverage, volume } = bin;
    const of = totalsOfSlot(bin);
    return {
      ...{ status, coverage, volume, start: Date.parse(start), end: Date.parse(end) },
      values: valuesOf(approaches, of),
    };
  });
  const marked = peaks.flatMap((peak): MarkedPeak[] => {
    if (!peak.start || !peak.end || peak.window === 'DAY') return [];
    const [from, until] = [Date.parse(peak.start), Date.parse(peak.end)];
    return [
      {
        name: peak.window,
        from,
        until,
        values: valuesOf(approaches, peak),
        factors: factorsOf(approaches, peak),
      },
    ];
  });
  const counts = tableOfSlots({ ...setting, slots, columns, peaks: marked, hasHours: true });
  const days = [...new Set(peaks.map(({ date }) => date))];
  const drawn = days.slice(0, MAX_DRAWN_DAYS);
  const turned = total.movements.reduce((sum, { volume }) => sum + volume, 0);
  return {
    figures: [
      { name: 'Motor vehicles', value: knownCount(total.volume, figures) },
      { name: 'Pedestrians', value: knownCount(total.pedestrians, figures) },
      { name: 'Bicycles', value: knownCount(total.bicycles, figures) },
      ...(days.length === 1 ? peakTiles(peaks, clockIn(settings)) : []),
    ],
    chapters: [
      ...drawn.flatMap((date) => chaptersOfDay(date, figures, setting)),
      { title: 'Counts by 15 minutes', words: [PEOPLE], table: counts.table },
    ],
    sheets: [{ name: 'Counts by 15 minutes', ...counts.sheet }, sheetOfPeaks(figures, setting)],
    notes: [
      ...knownSpans(slots, setting),
      ...(turned < total.volume
        ? [
            `Of ${(total.volume - turned).toLocaleString('en')} vehicles the turn is not known: they are in no movement.`,
          ]
        : []),
      ...(days.length > drawn.length
        ? [`Diagrams are of the first ${MAX_DRAWN_DAYS} days with a peak hour.`]
        : []),
    ],
  };
}

const PEOPLE =
  'Vehicles are motor vehicles. Pedestrians (peds) and bicycles (bikes) are counted apart, and are not in them. Thru: through.';

type Counted = Pick<Totals, 'movements' | 'volume' | 'pedestrians' | 'bicycles'>;

function totalsOfSlot({ movements, volume, pedestrians, bicycles }: TurningFigures['bins'][number]): Counted {
  return { movements, volume: volume ?? 0, pedestrians, bicycles };
}

function columnsOf(approaches: readonly Approach[]): Column[] {
  const integer = (name: string, group: string, width: number): Column => ({
    name,
    type: 'integer',
    width,
    group,
  });
  return [
    ...approaches.flatMap(({ leg, turns }) => {
      const group = nameOfApproach(leg);
      return [...turns.map((turn) => integer(TURN_NAMES[turn], group, 8)), integer('Total', group, 8)];
    }),
    integer('Vehicles', 'ALL APPROACHES', 10),
    integer('Pedestrians', 'ALL APPROACHES', 8),
    integer('Bicycles', 'ALL APPROACHES', 8),
  ];
}

function valuesOf(
  approaches: readonly Approach[],
  { movements, volume, pedestrians, bicycles }: Counted,
): number[] {
  const parts = approaches.flatMap(({ leg, turns }) => {
    const volumes = turns.map((turn) => movements.find(isOf(leg, turn))?.volume ?? 0);
    return [...volumes, volumes.reduce((sum, each) => sum + each, 0)];
  });
  return [...parts, volume, pedestrians, bicycles];
}

function factorsOf(approaches: readonly Approach[], { movements, peakHourFactor }: Peak): string[] {
  const parts = approaches.flatMap(({ leg, turns }) => [
    ...turns.map((turn) => factorText(movements.find(isOf(leg, turn))?.peakHourFactor)),
    '',
  ]);
  return [...parts, factorText(peakHourFactor), '', ''];
}

/** A page with the diagrams of a day, and one with its tables. */
function chaptersOfDay(date: string, figures: TurningFigures, setting: Setting): Chapter[] {
  const local = createLocalTime(setting.settings);
  const day = `${weekdayName(date)}, ${local.showDay(date)}`;
  const peaks = figures.peaks.filter((peak) => peak.date === date && peak.start !== null);
  const drawn = peaks.filter(({ window }) => window === 'AM' || window === 'PM');
  const shown = drawn.length > 0 ? drawn : peaks.slice(0, 1);
  if (shown.length === 0) return [];
  const listed = peaks.filter(
    (peak) => peak.window !== 'DAY' || !peaks.some((other) => other !== peak && other.start === peak.start),
  );
  return [
    {
      title: `Peak hours of ${day}`,
      drawings: shown.map((peak) => crossingOf(peak, setting)),
    },
    {
      title: `Movements in the peak hours of ${day}`,
      table: dashed(tableOfPeaks(listed, figures.total, setting)),
    },
    {
      title: `Pedestrians and bicycles by leg, ${day}`,
      table: tableOfPeople(listed, figures.total, setting),
    },
  ];
}

function hourOf({ start, end }: Peak, { settings }: Setting): string {
  const clock = clockIn(settings);
  const [from, until] = [Date.parse(start ?? ''), Date.parse(end ?? '')];
  return `${clock.from(from)}–${clock.until(from, until)}`;
}

function crossingOf(peak: Peak, setting: Setting): Crossing {
  const { window, volume, movements, approaches, exits, pedestriansByLeg, bicyclesByLeg, peakHourFactor } =
    peak;
  const title = `${window} peak hour ${hourOf(peak, setting)}: ${(volume ?? 0).toLocaleString('en')} vehicles, PHF ${factorText(peakHourFactor)}`;
  const legs = approaches.map(({ leg, volume: entering }) => ({
    eighth: LEGS.indexOf(leg),
    name: nameOfApproach(leg),
    out: volumeOf(exits, leg),
    lines: [
      `In ${entering.toLocaleString('en')} · out ${volumeOf(exits, leg).toLocaleString('en')}`,
      `Pedestrians ${volumeOf(pedestriansByLeg, leg).toLocaleString('en')} · bicycles ${volumeOf(bicyclesByLeg, leg).toLocaleString('en')}`,
    ],
  }));
  const words = approaches.map(({ leg }, n) => {
    const turns = movements
      .filter(({ from }) => from === leg)
      .map(
        (each) => `${TURN_NAMES[each.turn].toLowerCase()} ${each.volume} to the ${exitOf(leg, each.turn)}`,
      );
    return `${nameOfApproach(leg)}: ${turns.join(', ') || 'no vehicle'}; ${legs[n]?.lines.join('; ')}`;
  });
  return {
    shape: 'crossing',
    title,
    legs,
    movements: movements.map(({ from, turn, volume: vehicles }) => ({
      eighth: LEGS.indexOf(from),
      turn,
      volume: vehicles,
    })),
    alt: `${title}. ${words.join('. ')}.`,
  };
}

/** The share of heavy vehicles, as T of the peak hours; null if no vehicle has a class. */
function heavyOf(movements: readonly Movement[]): number | null {
  const classes = movements.flatMap(({ byClass }) => byClass).filter((each) => each.class !== 'UNCLASSIFIED');
  const all = movements.reduce((sum, { volume }) => sum + volume, 0);
  const heavy = classes.reduce((sum, each) => sum + (HEAVY.has(each.class) ? each.volume : 0), 0);
  return classes.length === 0 || all === 0 ? null : heavy / all;
}

/** A code that is in several schemes means the same in all. */
const HEAVY: ReadonlySet<string> = new Set(
  Object.values(classSchemes).flatMap((scheme) =>
    scheme.filter(({ isHeavy }) => isHeavy).map(({ code }) => code),
  ),
);

/** The movements of each approach in the peak hours of a day and in the whole range. */
function tableOfPeaks(peaks: readonly Peak[], total: Totals, setting: Setting): FigureTable {
  const columns: Column[] = [
    { name: 'Movement', type: 'text', width: 18 },
    ...peaks.flatMap((peak): Column[] => {
      const group = `${peak.window} ${hourOf(peak, setting)}`;
      return [
        { name: 'Vehicles', type: 'integer', width: 10, group },
        { name: 'PHF', type: 'decimal', digits: 3, width: 9, group },
        { name: 'Heavy', type: 'share', digits: 1, width: 10, group },
      ];
    }),
    { name: 'Vehicles', type: 'integer', width: 10, group: 'WHOLE COUNT' },
    { name: 'Heavy', type: 'share', digits: 1, width: 10, group: 'WHOLE COUNT' },
  ];
  const rows = approachesOf(total).flatMap(({ leg, turns }): FigureRow[] => {
    const group = nameOfApproach(leg);
    const of = (counted: Pick<Totals, 'movements'>, turn?: Turn) =>
      counted.movements.filter((each) => each.from === leg && (turn === undefined || each.turn === turn));
    const sum = (list: readonly Movement[]): number => list.reduce((all, { volume }) => all + volume, 0);
    const rowOf = (name: string, turn?: Turn): FigureRow => ({
      group,
      tone: turn === undefined ? 'total' : undefined,
      cells: [
        name,
        ...peaks.flatMap((peak) => {
          const list = of(peak, turn);
          const factor = turn === undefined ? '' : (list[0]?.peakHourFactor ?? null);
          return [sum(list), factor, heavyOf(list)];
        }),
        sum(of(total, turn)),
        heavyOf(of(total, turn)),
      ],
    });
    return [...turns.map((turn) => rowOf(TURN_NAMES[turn], turn)), rowOf('Approach')];
  });
  rows.push({
    group: 'INTERSECTION',
    tone: 'peak',
    cells: [
      'All vehicles',
      ...peaks.flatMap((peak) => [peak.volume, peak.peakHourFactor, heavyOf(peak.movements)]),
      total.volume,
      heavyOf(total.movements),
    ],
  });
  return { columns, rows };
}

function tableOfPeople(peaks: readonly Peak[], total: Totals, setting: Setting): FigureTable {
  const counted = [
    ...peaks.map((peak) => ({ name: `${peak.window} ${hourOf(peak, setting)}`, of: peak })),
    { name: 'WHOLE COUNT', of: total },
  ];
  const columns: Column[] = [
    { name: 'Leg', type: 'text', width: 30 },
    ...counted.flatMap(({ name }): Column[] => [
      { name: 'Pedestrians', type: 'integer', width: 11, group: name },
      { name: 'Bicycles', type: 'integer', width: 11, group: name },
    ]),
  ];
  const rows = total.approaches.map(
    ({ leg }): FigureRow => ({
      cells: [
        nameOfApproach(leg),
        ...counted.flatMap(({ of }) => [volumeOf(of.pedestriansByLeg, leg), volumeOf(of.bicyclesByLeg, leg)]),
      ],
    }),
  );
  rows.push({
    tone: 'total',
    cells: ['All legs', ...counted.flatMap(({ of }) => [of.pedestrians, of.bicycles])],
  });
  return { columns, rows };
}

/** The movements of all peak hours, one in a row. */
function sheetOfPeaks({ peaks }: TurningFigures, setting: Setting): Sheet {
  const text = (name: string, width: number): Column => ({ name, type: 'text', width });
  const clock = clockIn(setting.settings);
  const { timezone } = setting.settings;
  return {
    name: 'Peak hours',
    columns: [
      text(`Day (${timezone})`, 12),
      text('Window', 10),
      text(`From (${timezone})`, 12),
      text(`Until (${timezone})`, 12),
      text('Approach', 22),
      text('Turn', 10),
      { name: 'Vehicles', type: 'integer', width: 10 },
      { name: 'Peak hour factor', type: 'decimal', digits: 4, width: 10 },
      { name: 'Heavy vehicles', type: 'share', digits: 1, width: 10 },
    ],
    rows: peaks.flatMap((peak) => {
      if (!peak.start || !peak.end) return [];
      const [from, until] = [Date.parse(peak.start), Date.parse(peak.end)];
      const hour = [peak.date, peak.window, clock.from(from), clock.until(from, until)];
      return [
        [...hour, 'INTERSECTION', 'All', peak.volume, peak.peakHourFactor, heavyOf(peak.movements)],
        ...peak.movements.map((each) => [
          ...hour,
          nameOfApproach(each.from),
          TURN_NAMES[each.turn],
          each.volume,
          each.peakHourFactor ?? null,
          heavyOf([each]),
        ]),
      ];
    }),
  };
}
