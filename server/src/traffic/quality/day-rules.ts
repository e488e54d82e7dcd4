import type { LocalDay } from '../../platform/time.ts';
import { type Bin, type Cell, type Count, isMotor, sumCells } from '../bin.ts';
import { isWorkingDay } from '../daily.ts';
import { binsByDay, type DayOfBins, hoursOf } from '../local-hours.ts';
import {
  type Flag,
  littleKnownHours,
  oddClassShare,
  oddHours,
  overCapacity,
  unevenDirections,
} from './rules.ts';

/**
 * What is odd about the days of a place: R11, R12, R15 and R16. Days that are not over, or of which nothing is known, are
 * not judged.
 * @param hours in order, of whole days; those before the first judged day are the history of R15
 * @param lanes of the place, if it is known; otherwise, those that were counted
 * @param from the first judged time
 * @param holidays as YYYY-MM-DD: R15 compares working days with working days, and weekends and holidays with these
 */
export function judgeDays(
  hours: readonly Bin[],
  zone: string,
  { from, lanes, holidays }: { from: number; lanes: number; holidays: ReadonlySet<string> },
): Flag[] {
  const [first, last] = [hours[0], hours.at(-1)];
  if (!first || !last) return [];
  const days = binsByDay(hours, { from: first.start, until: last.end }, zone).map((day) => ({
    ...day,
    classes: classesOf(day),
  }));
  return days.flatMap((day, n) => {
    const { bins } = day;
    const isJudged = day.until > from && bins.every(({ status }) => status !== 'PROVISIONAL');
    if (!isJudged || bins.every(({ volume }) => volume === null)) return [];
    return [
      ...oddHours(day, hoursOf(day, zone)),
      ...bins.flatMap((hour) => overCapacity(hour, Math.max(lanes, lanesOf(hour)))),
      ...unevenDay(day),
      ...classShares(day, days.slice(Math.max(0, n - 60), n).filter(isAlike(day, holidays))),
      ...littleKnownHours(bins.filter(({ status }) => status !== 'EXCLUDED')),
    ];
  });
}

function isAlike({ day }: LocalDay, holidays: ReadonlySet<string>): (other: LocalDay) => boolean {
  const isWorking = isWorkingDay(day, holidays);
  return (other) => isWorkingDay(other.day, holidays) === isWorking;
}

function lanesOf({ cells }: Bin): number {
  return new Set(cells.flatMap(({ direction, lane }) => (lane === undefined ? [] : [`${direction} ${lane}`])))
    .size;
}

/** R12, where exactly two directions were counted. */
function unevenDay(day: DayOfBins<Bin>): Flag[] {
  const [one, other, ...more] = partsOf(day, ['direction']).filter(
    ({ direction }) => direction !== undefined,
  );
  return one && other && more.length === 0 ? unevenDirections(day, one.volume, other.volume) : [];
}

/** The classes of the motor vehicles of a day. */
interface Classes {
  readonly total: number;
  /** The share of each class in the total, by its code; 0 if the total is 0. */
  readonly shares: ReadonlyMap<string, number>;
}

interface DayOfClasses extends LocalDay {
  readonly classes: Classes;
}

/** R15: the class whose share is the oddest. */
function classShares(day: DayOfClasses, before: readonly DayOfClasses[]): Flag[] {
  const known = before.filter(({ classes }) => classes.total > 0);
  const flags = [...day.classes.shares].flatMap(([code, share]) =>
    oddClassShare(
      day,
      share,
      known.map(({ classes }) => classes.shares.get(code) ?? 0),
    ),
  );
  return flags.sort((a, b) => b.value - b.threshold - (a.value - a.threshold)).slice(0, 1);
}

function classesOf(day: DayOfBins<Bin>): Classes {
  const total = totalOf(day.bins);
  const counts = new Map<string, number>();
  for (const { class: of, volume } of partsOf(day, ['class']))
    if (of) counts.set(of.code, (counts.get(of.code) ?? 0) + volume);
  return {
    total,
    shares: new Map([...counts].map(([code, count]) => [code, total === 0 ? 0 : count / total])),
  };
}

function totalOf(bins: readonly Count[]): number {
  return bins.reduce((sum, { volume }) => sum + (volume ?? 0), 0);
}

function partsOf({ bins }: DayOfBins<Bin>, by: readonly ('direction' | 'class')[]): Cell[] {
  return sumCells(
    bins.flatMap(({ cells }) => cells.filter(isMotor)),
    by,
  );
}

/** The rules with a flag in each of some days. */
export function rulesByDay<Each extends Pick<Flag, 'rule' | 'from' | 'until'>>(
  days: readonly LocalDay[],
  flags: readonly Each[],
): Each['rule'][][] {
  return days.map(({ from, until }) => [
    ...new Set(flags.filter((flag) => flag.from < until && flag.until > from).map(({ rule }) => rule)),
  ]);
}
