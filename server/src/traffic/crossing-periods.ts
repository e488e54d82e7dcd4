import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { isMotor } from './bin.ts';
import { type CountedSpan, classOf, storedSpans } from './counting.ts';
import { source } from './passed-store.ts';
import { sumsOf } from './periods.ts';
import { endOf, type PeriodSum, readCrossingPeriods } from './periods-store.ts';
import { canCross, isCrossing, type ReadRange } from './segments.ts';
import {
  type Counting,
  type Counts,
  type Detail,
  isPlausibleBin,
  type Kind,
  measure,
  type Packed,
  type Read,
  SUM_CELLS,
  SUM_MEASURES,
} from './slots-store.ts';

// Slots begin on full hours, quarter hours and five minutes of UTC. In a time zone half an hour away, such as those of India and
// central Australia, no slot contains an hour that a detector counted from one local hour to the next.

/**
 * The periods in a range that no slot contains, and that no edge divides, in the form of slots.
 * @param detail as for `readCounts`
 */
export async function readCrossingCounts(
  db: Executor,
  read: Read,
  counting: readonly Counting[],
  range: ReadRange,
  detail: Detail = 'speeds',
): Promise<Counts> {
  const kinds = new Map<number, Kind>();
  const sensorIds = counting.flatMap(({ sensorId, source: counted }) =>
    counted === source.COUNTED ? [sensorId] : [],
  );
  if (sensorIds.length === 0 || !canCross(range)) return { kinds, rows: [] };
  if (detail === 'sums') kinds.set(0, MOTOR_VEHICLES);
  const cells = new Map<string, number>();
  const cellOf = (key: string, kind: Kind): number => {
    const cell = cells.get(key) ?? FIRST_CELL - cells.size;
    cells.set(key, cell);
    kinds.set(cell, kind);
    return cell;
  };
  const sumsBySlot = new Map<string, PeriodSum[]>();
  for (const period of await readCrossingPeriods(db, sensorIds, read, range.segments)) {
    const time = { from: period.start, until: endOf(period) };
    if (!isCrossing(range, time) || read.spans?.some((span) => contains(span, time)) === false) continue;
    const key = `${period.sensorId} ${period.start} ${period.seconds}`;
    const sums = sumsBySlot.get(key);
    if (sums) sums.push(...sumsOf(period, 1));
    else sumsBySlot.set(key, sumsOf(period, 1));
  }
  const rows = [...sumsBySlot].map(([key, sums]): Packed => {
    const [sensorId = '', start, seconds] = key.split(' ');
    const slot = { sensorId, slot: Number(start), minutes: Number(seconds) / 60, share: shareOf(sums) };
    return { ...slot, ...(detail === 'sums' ? totalsOf(sums) : packedOf(sums, detail, cellOf)) };
  });
  return { kinds, rows };
}

/** How much of a range these periods of sensors cover, wherever they stand. */
export async function readCrossingSpans(
  db: Executor,
  sensorIds: readonly string[],
  range: ReadRange,
): Promise<CountedSpan[]> {
  const counting = sensorIds.map((sensorId) => ({ sensorId, source: source.COUNTED }));
  const { rows } = await readCrossingCounts(db, { sensorIds }, counting, range, 'sums');
  return storedSpans(rows) ?? [];
}

/** The kind of totals. */
const MOTOR_VEHICLES: Kind = {
  ...{ vehicleType: '', vehicleClass: '', direction: '', lane: '', movement: '', eventType: '' },
  isMotor: true,
};

/** Kinds of vehicles have keys of their own here, below those of vehicles that are not rolled up. */
const FIRST_CELL = -(2 ** 31);

function contains(span: Interval, { from, until }: Interval): boolean {
  return from >= span.from && until <= span.until;
}

/** The share of the time of periods that is counted. */
function shareOf(sums: readonly PeriodSum[]): number {
  const timeOf = (what: number): number =>
    sums.reduce((sum, each) => (each.measure === what ? sum + each.value : sum), 0);
  return timeOf(measure.COVERED) / timeOf(measure.EXPECTED);
}

/** The totals of motor vehicles. */
function totalsOf(sums: readonly PeriodSum[]): Pick<Packed, 'cells' | 'measures' | 'sums'> {
  const sumOf = (key: 'vehicles' | 'measured' | 'speedSum'): number =>
    sums.reduce((sum, each) => sum + each[key], 0);
  const [vehicles, measured] = [sumOf('vehicles'), sumOf('measured')];
  return {
    cells: SUM_CELLS,
    measures: SUM_MEASURES,
    sums: [sumOf('speedSum'), vehicles - measured, measured],
  };
}

/** The sums in the order of their kinds. @param cellOf finds the key of a kind */
function packedOf(
  sums: readonly PeriodSum[],
  detail: Detail,
  cellOf: (key: string, kind: Kind) => number,
): Pick<Packed, 'cells' | 'measures' | 'sums'> {
  const entries = sums
    .map((sum) => {
      const { direction, lane, movement } = sum.period;
      const { vehicleClass } = sum;
      const vehicle = { vehicleType: '', vehicleClass, isMotor: true };
      const of = { direction, lane, movement, eventType: '' };
      const kind = { ...vehicle, ...of, isMotor: isMotor({ class: classOf(vehicle) }) };
      const key = JSON.stringify([vehicleClass, direction, lane, movement]);
      const isSpeed = detail === 'kinds' && isPlausibleBin(sum.measure);
      return { cell: cellOf(key, kind), measure: isSpeed ? 1 : sum.measure, sum: sum.value };
    })
    .sort((a, b) => a.cell - b.cell);
  return {
    cells: entries.map(({ cell }) => cell),
    measures: entries.map((entry) => entry.measure),
    sums: entries.map(({ sum }) => sum),
  };
}
