import { MINUTE_MS } from '@gantry/contract/durations';
import type {
  AadtOfPlace,
  AnnualInput,
  CountsInput,
  CountsOfPlace,
  DailyVolumesInput,
  DailyVolumesOfPlace,
  DesignHoursOfPlace,
  FactorsOfPlace,
  PeakHoursInput,
  PeakHoursOfPlace,
} from '@gantry/contract/figures';
import type { TurningMovementsInput, TurningMovementsOfPlace } from '@gantry/contract/turning-movements';
import { MAX_POINTS } from '@gantry/contract/values';
import { invalidInput } from '../platform/error.ts';
import { type Interval, requireRange } from '../platform/time.ts';
import { type Aadt, aadt, designHoursOf, designHourVolume, factorsOf, type YearOfHours } from './annual.ts';
import { type Bin, type Cell, type Dimension, isMotor, joinWithin, sumCells } from './bin.ts';
import { holidaysOf } from './calendar.ts';
import { dailyVolumes } from './daily.ts';
import { coarserIf, inIntervals, type Parts, readTraffic, type Traffic } from './figures.ts';
import { peakHours } from './peak-hours.ts';
import { getPlace, type LimitedPlace, type WantedPlace } from './places-store.ts';
import { markLongGaps } from './quality/gaps.ts';
import { localBounds, minutesOf, requireFewPoints } from './range.ts';
import type { Detail } from './slots-store.ts';
import { turningMovements } from './turning-movements.ts';
import { localYear, readYear } from './years.ts';

// The volumes that an engineer signs, of the same vehicles as `getFlow`.

/** What is read of a place. */
interface Reading {
  /** `sums` leaves out the parts, which makes a year readable in milliseconds. */
  readonly detail?: Detail;
  readonly flags?: 'exclude' | 'include';
  /** The parts that are told apart; without `class`, those of motor vehicles. By default, all of all vehicles. */
  readonly by?: readonly Dimension[];
}

/** The traffic of a place in local intervals, by default without rejected data. @throws AppError `notFound` */
export async function readBins(
  { db, settings, clock }: Parts,
  wanted: WantedPlace,
  range: Interval,
  minutes: number,
  { detail = 'kinds', flags = 'exclude', by }: Reading = {},
): Promise<{ place: LimitedPlace; traffic: Traffic; bins: Bin[] }> {
  const place = await getPlace(db, wanted);
  const { timezone: zone } = settings.current();
  const bounds = localBounds(range, minutes, zone);
  const excluding = flags === 'exclude' ? { zone } : undefined;
  const traffic = await readTraffic(db, place, inIntervals(place, bounds), {
    now: clock.now(),
    detail,
    excluding,
  });
  return { place, traffic, bins: traffic.binsOf(bounds, by) };
}

/**
 * The traffic of a place in hours or quarter hours, from which means of days and hours are computed: hours with too long a gap
 * (R2) are marked, and so are their quarters.
 */
export async function readMarkedBins(
  parts: Parts,
  wanted: WantedPlace,
  range: Interval,
  minutes: 15 | 60,
  reading: Reading = {},
): Promise<{ place: LimitedPlace; bins: Bin[] }> {
  const { place, traffic, bins } = await readBins(parts, wanted, range, minutes, reading);
  const zone = parts.settings.current().timezone;
  const areWhole = minutes === 60;
  const hours = areWhole ? bins : joinWithin(bins, localBounds(range, 60, zone));
  const at = { zone, now: parts.clock.now() };
  return { place, bins: await markLongGaps(parts.db, { place, traffic, hours, areWhole }, bins, at) };
}

/**
 * The volume of a place by interval, with its parts.
 * @throws AppError `notFound`; `badRequest` for a range that ends before it starts, or has too many intervals
 */
export async function getCounts(parts: Parts, input: CountsInput): Promise<CountsOfPlace> {
  const { timezone } = parts.settings.current();
  const minutes = minutesOf[input.interval];
  const range = requireRange(input, timezone);
  requireFewPoints(range, minutes);
  const { flags, by } = input;
  const { bins, traffic } = await readBins(parts, input, range, minutes, { flags, by });
  const longer = bins.some(({ status }) => status === 'GAP') ? await traffic.readLongPeriods() : [];
  return {
    timezone,
    interval: input.interval,
    bins: bins.map(({ start, end, status, coverage, volume, cells }) => {
      const bin = { status, coverage, volume, cells: codedCells(cells, by) };
      return {
        ...coarserIf(bin, { from: start, until: end }, longer),
        start: new Date(start),
        end: new Date(end),
      };
    }),
  };
}

/** Cells that are told apart by the given dimensions, with the codes of their classes. */
function codedCells(
  cells: readonly Cell[],
  by: readonly Dimension[],
): CountsOfPlace['bins'][number]['cells'] {
  const hasClass = by.includes('class');
  return cells.map(({ class: vehicleClass, ...cell }) =>
    hasClass ? { ...cell, class: vehicleClass?.code ?? 'UNCLASSIFIED' } : cell,
  );
}

/** Cells by the given dimensions. Without the class, bicycles and pedestrians would be among motor vehicles. */
export function describeCells(
  cells: readonly Cell[],
  by: readonly Dimension[],
): CountsOfPlace['bins'][number]['cells'] {
  return codedCells(sumCells(by.includes('class') ? cells : cells.filter(isMotor), by), by);
}

const QUARTER_MS = 15 * MINUTE_MS;
const MAX_PEAK_DAYS = Math.floor(MAX_POINTS / 96);

/** @throws AppError `badRequest` for a range of too many quarter hours */
function requireFewQuarters(range: Interval): void {
  if ((range.until - range.from) / QUARTER_MS > MAX_POINTS)
    throw invalidInput(
      'endDate',
      `Peak hours are read from quarter hours, at most ${MAX_POINTS}: choose at most ${MAX_PEAK_DAYS} days`,
    );
}

/** The peak hours of every day. @throws AppError as `getCounts` does */
export async function getPeakHours(parts: Parts, input: PeakHoursInput): Promise<PeakHoursOfPlace> {
  const { timezone } = parts.settings.current();
  const range = requireRange(input, timezone);
  requireFewQuarters(range);
  const { bins } = await readMarkedBins(parts, input, range, 15);
  const { windows, by } = input;
  const { days, average } = peakHours(bins, range, timezone, { ...(windows && { windows }), by });
  return { timezone, days, average };
}

/** The turning movement count of an intersection. @throws AppError as `getCounts` does */
export async function getTurningMovements(
  parts: Parts,
  input: TurningMovementsInput,
): Promise<TurningMovementsOfPlace> {
  const { timezone } = parts.settings.current();
  const range = requireRange(input, timezone);
  requireFewQuarters(range);
  const { bins: quarters } = await readBins(parts, input, range, 15);
  const { windows, interval } = input;
  const { bins, total, peaks } = turningMovements(quarters, range, timezone, {
    ...(windows && { windows }),
    bounds: localBounds(range, minutesOf[interval], timezone),
  });
  return { timezone, interval, bins, total, peaks };
}

/** The volume of every day, and the means of complete days. @throws AppError as `getCounts` does */
export async function getDailyVolumes(parts: Parts, input: DailyVolumesInput): Promise<DailyVolumesOfPlace> {
  const { timezone } = parts.settings.current();
  const range = requireRange(input, timezone);
  const { place, bins } = await readMarkedBins(parts, input, range, 60, { detail: 'sums' });
  const holidays = await holidaysOf(parts.db, place, range, timezone);
  return { timezone, ...dailyVolumes(bins, range, timezone, holidays) };
}

/** The hours of a local year, and the annual average that follows from them. */
interface Annual extends YearOfHours {
  readonly timezone: string;
  readonly range: Interval;
  readonly average: Aadt;
}

async function readAnnual(
  { db, settings, clock }: Parts,
  { year, method, allowMissing, ...wanted }: AnnualInput,
): Promise<Annual> {
  const { timezone } = settings.current();
  const [range, now] = [localYear(year, timezone), clock.now()];
  const hours = await readYear(db, await getPlace(db, wanted), range, now);
  const isOver = range.until <= now;
  return { timezone, range, ...hours, average: aadt(hours.months, method, { allowMissing, isOver }) };
}

/** The annual average daily traffic of a place. @throws AppError `notFound` */
export async function getAadt(parts: Parts, input: AnnualInput): Promise<AadtOfPlace> {
  const { timezone, average } = await readAnnual(parts, input);
  return { timezone, year: input.year, ...average };
}

/** The factors by which short counts become annual ones. @throws AppError `notFound` */
export async function getFactors(parts: Parts, input: AnnualInput): Promise<FactorsOfPlace> {
  const { timezone, months, average } = await readAnnual(parts, input);
  const { value, status, reason } = average;
  return { timezone, year: input.year, aadt: value, status, reason, ...factorsOf(months, value) };
}

/** The busiest hours of a year. @throws AppError `notFound` */
export async function getDesignHours(parts: Parts, input: AnnualInput): Promise<DesignHoursOfPlace> {
  const { timezone, range, average, ...hours } = await readAnnual(parts, input);
  const { value } = average;
  const found = designHoursOf(hours, range, value);
  const { k30 } = found;
  return {
    timezone,
    year: input.year,
    aadt: value,
    ...found,
    designHourVolume: value === null || k30 === null ? null : designHourVolume(value, k30),
  };
}
