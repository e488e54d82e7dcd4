import { DAY_MS, MINUTE_MS } from '@gantry/contract/durations';
import type {
  CompareStudiesInput,
  SpeedStudyInput,
  SpeedStudyOfPlace,
  StudyComparison,
} from '@gantry/contract/figures';
import type { SpeedUnits } from '@gantry/contract/values';
import type { Core } from '../platform/context.ts';
import { heldAt } from '../platform/history.ts';
import { type Interval, offsetsOf, requireRange } from '../platform/time.ts';
import { compareStudies } from './comparison.ts';
import type { WantedVehicles } from './counting.ts';
import { asWhole, inIntervals, type Parts, readTraffic } from './figures.ts';
import { speedsAt } from './flow.ts';
import { getPlace, readSpeedUnits, type WantedPlace } from './places-store.ts';
import { localBounds, requireFewPoints } from './range.ts';
import { requireClasses } from './speed-sample.ts';
import { type StudiedSpeeds, speedStudy } from './speed-study.ts';
import { type Speeds, sumOfSpeeds } from './speeds.ts';

/** The vehicles of a study, and the parts of the local week in which they passed; by default all. */
export interface Sample extends WantedVehicles {
  readonly days?: readonly number[] | undefined;
  /** In minutes since midnight, on quarter hours. */
  readonly hours?: readonly (readonly [from: number, until: number])[] | undefined;
}

/**
 * The speeds at a place by the limit that held when they were measured: each of them if all events are still stored,
 * otherwise as they were counted; without rejected data. Without any, there is still the limit.
 * @throws AppError `notFound`; `badRequest` if hours that do not begin and end on the hour make too many intervals
 */
export async function readSpeeds(
  { db, settings, clock }: Parts,
  wanted: WantedPlace,
  range: Interval,
  sample: Sample = {},
): Promise<StudiedSpeeds[]> {
  const { timezone } = settings.current();
  const isWhole = (sample.hours ?? []).flat().every((minute) => minute % 60 === 0);
  if (!isWhole) requireFewPoints(range, 15, 'hours');
  const place = await getPlace(db, wanted);
  const isWanted = partOfWeek(sample, timezone);
  const read = isWanted
    ? inIntervals(place, localBounds(range, isWhole ? 60 : 15, timezone))
    : asWhole(place, range);
  const { rollups, readSpeeds } = await readTraffic(db, place, read, {
    now: clock.now(),
    excluding: { zone: timezone, isSilenceJudged: false },
    ...sample,
  });
  const limitAt = (slot: number): number | null => heldAt(place.limits, slot) ?? null;
  const counted = new Map<number | null, Speeds[]>();
  for (const [n, slot] of rollups.slots.entries())
    if ((rollups.measured[n] ?? 0) > 0 && isWanted?.(slot) !== false)
      append(counted, limitAt(slot), speedsAt(rollups, n));
  if (counted.size === 0) counted.set(limitAt(range.until - 1), []);
  const sums = [...counted].map(([limit, speeds]) => ({ limit, speeds: sumOfSpeeds(speeds) }));
  const total = sums.reduce((sum, { speeds }) => sum + speeds.measured, 0);
  const single = new Map<number | null, number[]>();
  if (total > 0 && total <= MAX_SINGLE)
    for (const { slot, speed } of await readSpeeds())
      if (isWanted?.(slot) !== false) append(single, limitAt(slot), speed);
  return sums.map(({ limit, speeds }) => {
    const values = single.get(limit) ?? [];
    return isSame(values, speeds) ? { limit, values } : { limit, speeds };
  });
}

/** Studies of up to this number of vehicles are computed from their events. */
const MAX_SINGLE = 500_000;

function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** Whether speeds are those that were counted: retention may have removed some of the events. */
function isSame(values: readonly number[], { measured, speedSum }: Speeds): boolean {
  const sum = values.reduce((all, value) => all + Math.round(value * 1_000), 0);
  return values.length > 0 && values.length === measured && Math.abs(sum - speedSum) <= values.length;
}

/** Whether a time is in the part of the local week of a sample; null if that is all of it. */
export function partOfWeek({ days, hours }: Sample, timezone: string): ((time: number) => boolean) | null {
  if (!days && !hours) return null;
  const offsetAt = offsetsOf(timezone);
  return (time) => {
    const local = time + offsetAt(time) * MINUTE_MS;
    const [weekday, minute] = [new Date(local).getUTCDay(), (local % DAY_MS) / MINUTE_MS];
    return (
      (days?.includes(weekday) ?? true) &&
      (hours?.some(([from, until]) => minute >= from && minute < until) ?? true)
    );
  };
}

/** With the units of the service. */
export type Configured = Parts & { readonly config: Pick<Core['config'], 'SPEED_UNITS'> };

/** The units of a question about the speeds at a place: those that it names, those of the place, or those of the service. */
export async function unitsOf(
  { db, config }: Pick<Configured, 'db' | 'config'>,
  place: WantedPlace,
  named?: SpeedUnits | undefined,
): Promise<SpeedUnits> {
  return named ?? (await readSpeedUnits(db, place)) ?? config.SPEED_UNITS;
}

/**
 * The speeds at a place, and their figures.
 * @throws AppError `notFound`; `badRequest` for a range that ends before it starts or is too long, and for classes that
 * are not in order or overlap
 */
export async function studySpeeds(parts: Parts, input: SpeedStudyInput & { readonly units: SpeedUnits }) {
  const range = requireRange(input, parts.settings.current().timezone);
  const { units, method, binEdges, days, hours, vehicleClass } = input;
  if (binEdges) requireClasses(binEdges);
  const speeds = await readSpeeds(parts, input, range, { days, hours, vehicleClass });
  const isOver = range.until <= parts.clock.now();
  return {
    range,
    speeds,
    study: speedStudy(speeds, { units, method, isOver, ...(binEdges && { binEdges }) }),
  };
}

/** The figures of the speeds at a place. @throws AppError as `studySpeeds` does */
export async function getSpeedStudy(parts: Configured, input: SpeedStudyInput): Promise<SpeedStudyOfPlace> {
  const { timezone } = parts.settings.current();
  const units = await unitsOf(parts, input, input.units);
  const { study } = await studySpeeds(parts, { ...input, units });
  return { timezone, ...study };
}

/** The speeds before and after a measure. @throws AppError as `getSpeedStudy` does */
export async function compareSpeeds(
  parts: Configured,
  { before, after, units: named }: CompareStudiesInput,
): Promise<StudyComparison> {
  const { timezone } = parts.settings.current();
  const [former, latter] = [requireRange(before, timezone), requireRange(after, timezone)];
  const units = await unitsOf(parts, before, named);
  const [first, second] = await Promise.all([
    readSpeeds(parts, before, former),
    readSpeeds(parts, after, latter),
  ]);
  return { timezone, ...compareStudies(first, second, units) };
}
