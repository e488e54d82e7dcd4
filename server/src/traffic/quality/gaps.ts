import { DAY_MS, HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import type { Executor } from '../../platform/database/transaction.ts';
import { offsetsOf, SLOT_MS } from '../../platform/time.ts';
import type { Count } from '../bin.ts';
import { holidaysOf } from '../calendar.ts';
import { isWorkingDay } from '../daily.ts';
import { inIntervals, readTraffic, type Traffic } from '../figures.ts';
import { isUsableHour } from '../local-hours.ts';
import type { LimitedPlace } from '../places-store.ts';
import { localBounds } from '../range.ts';
import { decisionAbout } from './rejected.ts';
import { type Flag, gapInHour, THRESHOLDS } from './rules.ts';

/** So far back the usual volume of an hour is sought. */
export const USUAL_DAYS = 60;

/** The shortest gap that is too long for any hour. */
const MIN_GAP_MS = Math.min(...THRESHOLDS.gaps.map(({ minutes }) => minutes)) * MINUTE_MS;

/** What kind of day an hour belongs to, and which hour of it, so that volumes of the same hours can be compared. */
export type HourKey = (start: number) => string;

/** Working days, and weekends together with holidays (YYYY-MM-DD), by the hour that clocks show. */
function hourOfDayType(zone: string, holidays: ReadonlySet<string>): HourKey {
  const offsetAt = offsetsOf(zone);
  return (start) => {
    const clock = new Date(start + offsetAt(start) * MINUTE_MS).toISOString();
    return `${isWorkingDay(clock.slice(0, 10), holidays) ? 'working' : 'free'} ${clock.slice(11, 13)}`;
  };
}

/** The mean of some volumes, and their number. */
export interface Usual {
  readonly mean: number | null;
  readonly n: number;
}

/**
 * The usual volume of hours: the mean of those of the same key in the 60 days before.
 * @param hours in order, of which only those that are known well are used
 */
export function usualOf(hours: readonly Count[], keyOf: HourKey): (start: number, before?: number) => Usual {
  const known = new Map<string, Count[]>();
  for (const hour of hours) {
    if (!isUsableHour(hour)) continue;
    const key = keyOf(hour.start);
    const list = known.get(key);
    if (list) list.push(hour);
    else known.set(key, [hour]);
  }
  return (start, before = start) => {
    const volumes = (known.get(keyOf(start)) ?? [])
      .filter((hour) => hour.end <= before && hour.start >= before - USUAL_DAYS * DAY_MS)
      .map(({ volume }) => volume ?? 0);
    const n = volumes.length;
    return { mean: n > 0 ? volumes.reduce((sum, volume) => sum + volume, 0) / n : null, n };
  };
}

/** The local hours of a place in a range, of data that are not rejected. */
export async function readKeptHours(
  db: Executor,
  place: LimitedPlace,
  range: { readonly from: number; readonly until: number },
  { zone, now }: { zone: string; now: number },
): Promise<{ traffic: Traffic; hours: Count[] }> {
  const bounds = localBounds(range, 60, zone);
  const traffic = await readTraffic(db, place, inIntervals(place, bounds), {
    now,
    detail: 'sums',
    excluding: { zone },
  });
  return { traffic, hours: traffic.binsOf(bounds) };
}

/** The local hours before a time from which usual volumes follow, of data that are not rejected. */
export async function readHoursBefore(
  db: Executor,
  place: LimitedPlace,
  { from, until }: { from: number; until: number },
  at: { zone: string; now: number },
): Promise<Count[]> {
  const range = { from: from - USUAL_DAYS * DAY_MS, until };
  return (await readKeptHours(db, place, range, at)).hours;
}

/** Hours of a place, in which gaps are sought. */
export interface HoursOfPlace {
  readonly place: LimitedPlace;
  readonly traffic: Traffic;
  /** In order. */
  readonly hours: readonly Count[];
  /** Whether these were read as hours, and not as parts of them, of which a longer count has none. */
  readonly areWhole: boolean;
}

/**
 * R2: the hours with a gap that is too long for their usual volume, unless somebody accepted them. They are in no mean of
 * hours and days; what was counted in them still is what is known.
 */
export async function findGaps(
  db: Executor,
  of: HoursOfPlace,
  { zone, now }: { zone: string; now: number },
): Promise<Flag[]> {
  const { place, traffic, hours } = of;
  const doubtful = hours.filter(
    ({ start, end, status, coverage }) =>
      status !== 'PROVISIONAL' && coverage > 0 && (1 - coverage) * (end - start) > MIN_GAP_MS,
  );
  const [first, last] = [doubtful[0], doubtful.at(-1)];
  if (!first || !last) return [];
  const history = await readHistory(db, of, { from: first.start, until: last.start }, { zone, now });
  const holidays = await holidaysOf(
    db,
    place,
    { from: first.start - USUAL_DAYS * DAY_MS, until: last.end },
    zone,
  );
  const usual = usualOf(history, hourOfDayType(zone, holidays));
  const about = traffic.verdicts.reviews.filter(({ placeId }) => placeId === place.id);
  // The gaps of an hour together are at least as long as its longest one, which is read only if they are too long.
  const suspect = doubtful.filter((hour) => gapInHour([hour], usual(hour.start).mean).length > 0);
  const found: Flag[] = [];
  for (const run of runsOf(suspect)) {
    const partsOf = await readParts(run, traffic);
    found.push(...run.flatMap((hour) => gapInHour(partsOf(hour), usual(hour.start).mean)));
  }
  return found.filter((span) => decisionAbout(span, about) !== 'ACCEPT');
}

/** Hours that are at most so far apart are read together: each statement costs as much as reading some hours more. */
const NEAR_MS = 3 * HOUR_MS;
/** So long a range is read at once, in milliseconds. */
const TOGETHER_MS = DAY_MS;

/** Hours in order, divided into those that are read together. */
function runsOf(hours: readonly Count[]): Count[][] {
  const runs: Count[][] = [];
  for (const hour of hours) {
    const run = runs.at(-1);
    const [begin, last] = [run?.[0], run?.at(-1)];
    if (run && begin && last && hour.start - last.end <= NEAR_MS && hour.end - begin.start <= TOGETHER_MS)
      run.push(hour);
    else runs.push([hour]);
  }
  return runs;
}

/**
 * The hours from which the usual volumes between two times follow. Those that are known already are not read again, unless which of
 * several types of sensors counts depends on what is read together.
 */
async function readHistory(
  db: Executor,
  { place, traffic, hours, areWhole }: HoursOfPlace,
  { from, until }: { from: number; until: number },
  at: { zone: string; now: number },
): Promise<Count[]> {
  const [begin] = hours;
  if (!begin || !areWhole || !traffic.isOfOneType) return readHoursBefore(db, place, { from, until }, at);
  const known = hours.filter(({ start }) => start < until);
  const missing = { from: from - USUAL_DAYS * DAY_MS, until: begin.start };
  const before = missing.from < missing.until ? (await readKeptHours(db, place, missing, at)).hours : [];
  return [...before, ...known];
}

/** Hours, or parts of them, of which those with one of these gaps are marked. */
export function markGaps<Each extends Count>(bins: readonly Each[], gaps: readonly Flag[]): Each[] {
  if (gaps.length === 0) return [...bins];
  const isMarked = ({ start }: Each): boolean =>
    gaps.some(({ from, until }) => start >= from && start < until);
  return bins.map((bin) => (isMarked(bin) ? { ...bin, hasLongGap: true } : bin));
}

/**
 * Reads hours in parts of five minutes, with what is known of each. Where intervals of a quarter or an hour were counted, these are
 * spread over their parts.
 * @param hours in order
 */
async function readParts(
  hours: readonly Count[],
  { readVolumes }: Traffic,
): Promise<(hour: Count) => Count[]> {
  const [from, until] = [hours[0]?.start ?? 0, hours.at(-1)?.end ?? 0];
  const boundsOf = (length: number): number[] => {
    const bounds: number[] = [];
    for (let at = from; at < until; at += length) bounds.push(at);
    return [...bounds, until];
  };
  const allQuarters = await readVolumes(boundsOf(3 * SLOT_MS));
  const allParts = await readVolumes(boundsOf(SLOT_MS));
  const isKnown = (part: Count): boolean => part.coverage > 0;
  return (hour) => {
    const isWithin = ({ start, end }: Count): boolean => start >= hour.start && end <= hour.end;
    const [quarters, parts] = [allQuarters.filter(isWithin), allParts.filter(isWithin)];
    return parts.map((part) => {
      const quarter = quarters.find(({ start, end }) => start <= part.start && end > part.start) ?? part;
      const hasParts = parts.some(
        (each) => isKnown(each) && each.start >= quarter.start && each.end <= quarter.end,
      );
      const whole = quarters.some(isKnown) || parts.some(isKnown) ? quarter : hour;
      return { ...part, status: hour.status, coverage: hasParts ? part.coverage : whole.coverage };
    });
  };
}

/**
 * Marks the hours with a gap that is too long (R2), and their parts. Only hours that means are made of are looked at.
 * @param bins the hours themselves, or parts of them
 */
export async function markLongGaps<Each extends Count>(
  db: Executor,
  of: HoursOfPlace,
  bins: readonly Each[],
  at: { zone: string; now: number },
): Promise<Each[]> {
  return markGaps(bins, await findGaps(db, { ...of, hours: of.hours.filter(isUsableHour) }, at));
}
