import { DAY_MS } from '@gantry/contract/durations';
import type { Page } from '@gantry/contract/page';
import {
  type DataQualityInput,
  type DataQualityOfPlace,
  type DataReview,
  type DataReviewsInput,
  MAX_FLAGS,
  MAX_QUALITY_DAYS,
  type QualityFlag,
  type ReviewDataInput,
} from '@gantry/contract/quality';
import { DateTime } from 'luxon';
import { recordActivity } from '../../activity/store.ts';
import type { ActorContext } from '../../platform/context.ts';
import { inTransaction } from '../../platform/database/transaction.ts';
import { invalidInput } from '../../platform/error.ts';
import { dayBounds, type Interval, localDays, monthOf, requireRange } from '../../platform/time.ts';
import { listDowntimes } from '../../sensors/status-store.ts';
import { madt, monthsOf } from '../annual.ts';
import { type Bin, type Cell, coveredOf, isMotor, roundTo } from '../bin.ts';
import { daysOfPlace, holidaysOf } from '../calendar.ts';
import { dayVolume } from '../daily.ts';
import { inIntervals, type Parts, readTraffic, type Traffic } from '../figures.ts';
import { binsByDay } from '../local-hours.ts';
import { findNames } from '../outages-store.ts';
import { getPlace, type LimitedPlace } from '../places-store.ts';
import { readAssigned } from '../points-store.ts';
import { localBounds } from '../range.ts';
import { judgeDays, rulesByDay } from './day-rules.ts';
import { findGaps, markGaps, USUAL_DAYS } from './gaps.ts';
import { decisionAbout } from './rejected.ts';
import { changedMonth, differingCounts, type Flag, SEVERITIES, type SensorFlag } from './rules.ts';
import { describeReviews, insertReview, listReviews } from './store.ts';
import { readSurroundings } from './surroundings.ts';

/** A flag of a place has no sensor. */
type AnyFlag = Omit<SensorFlag, 'sensorId'> & { readonly sensorId: string | null };

/**
 * What rules found in the data of a place, and what is left of each day.
 * @throws AppError `notFound`; `badRequest` for a range that ends before it starts, or is longer than 366 days
 */
export async function getDataQuality(parts: Parts, input: DataQualityInput): Promise<DataQualityOfPlace> {
  const { db, settings, clock } = parts;
  const { timezone: zone } = settings.current();
  const range = requireQualityRange(input, zone);
  const place = await getPlace(db, input);
  const now = clock.now();
  const days = dayBounds(range, zone);
  const whole = { from: days[0] ?? range.from, until: days.at(-1) ?? range.until };
  const bounds = localBounds(whole, 60, zone);
  const kept = await readTraffic(db, place, inIntervals(place, bounds), {
    now,
    detail: 'sums',
    excluding: { zone },
  });
  const bins = kept.binsOf(bounds);
  const gaps = await findGaps(db, { place, traffic: kept, hours: bins, areWhole: true }, { zone, now });
  const flags: AnyFlag[] = [
    ...kept.verdicts.flags,
    ...ofPlace([
      ...gaps,
      ...(await findOddDays(parts, place, whole)),
      ...(await findChangedMonths(parts, place, whole)),
      ...(await findDifferences(parts, place, days)),
    ]),
    ...(await findCalendarFlags(parts, place, whole)),
    ...(await findDowntimes(parts, whole)),
  ]
    .filter(({ from, until }) => from < range.until && until > range.from)
    .sort((a, b) => a.from - b.from || (a.rule < b.rule ? -1 : 1));
  const shown = flags.slice(0, MAX_FLAGS);
  return {
    timezone: zone,
    flags: await describeFlags(parts, place, shown, kept),
    isCut: flags.length > shown.length,
    unjudgedDays: kept.verdicts.unjudgedDays,
    days: describeDays(bins, gaps, flags, { whole, zone }),
    reviews: await describeReviews(db, kept.verdicts.reviews.toReversed()),
  };
}

/** @throws AppError `badRequest` for a range that ends before it starts, or is too long */
export function requireQualityRange(range: { startDate: string; endDate: string }, zone: string): Interval {
  const { from, until } = requireRange(range, zone);
  if (until - from > (MAX_QUALITY_DAYS + 1) * DAY_MS)
    throw invalidInput('endDate', `Choose a range of at most ${MAX_QUALITY_DAYS} days`);
  return { from, until };
}

function ofPlace(flags: readonly Flag[]): AnyFlag[] {
  return flags.map((flag) => ({ ...flag, sensorId: null }));
}

/** R11, R12, R15 and R16, of all data: rejected ones may be odd, too. */
async function findOddDays(
  { db, settings, clock }: Parts,
  place: LimitedPlace,
  range: Interval,
): Promise<Flag[]> {
  const { timezone: zone } = settings.current();
  const from = range.from - USUAL_DAYS * DAY_MS;
  const bounds = localBounds(
    { from: dayBounds({ from, until: range.from }, zone)[0] ?? from, until: range.until },
    60,
    zone,
  );
  const now = clock.now();
  const traffic = await readTraffic(db, place, inIntervals(place, bounds), { now, detail: 'kinds' });
  const { lanes } = (await readSurroundings(db, place, Math.min(range.until, now))).whole;
  const holidays = await holidaysOf(db, place, { from, until: range.until }, zone);
  return judgeDays(traffic.binsOf(bounds), zone, { from: range.from, lanes: lanes ?? 1, holidays });
}

/**
 * R12: the months of a range that are over and whose average daily traffic is far from that of a year before. Rejected data
 * are in neither.
 */
async function findChangedMonths(
  { db, settings, clock }: Parts,
  place: LimitedPlace,
  range: Interval,
): Promise<Flag[]> {
  const { timezone: zone } = settings.current();
  const now = clock.now();
  const averageOf = async (year: number, month: number): Promise<number | null> => {
    const bounds = localBounds(monthOf(year, month, zone), 60, zone);
    const traffic = await readTraffic(db, place, inIntervals(place, bounds), {
      now,
      detail: 'sums',
      excluding: { zone },
    });
    const found = monthsOf(traffic.binsOf(bounds), year, zone)[month - 1];
    return found ? madt(found) : null;
  };
  const flags: Flag[] = [];
  let { year, month } = DateTime.fromMillis(range.from, { zone });
  for (;;) {
    const span = monthOf(year, month, zone);
    if (span.from >= range.until || span.until > now) return flags;
    const before = await averageOf(year - 1, month);
    const average = before === null ? null : await averageOf(year, month);
    if (before !== null && average !== null) flags.push(...changedMonth(span, average, before));
    [year, month] = month === 12 ? [year + 1, 1] : [year, month + 1];
  }
}

/** R17: when the service was down. What arrived later counts, so nothing is rejected. */
async function findDowntimes({ db }: Parts, range: Interval): Promise<AnyFlag[]> {
  return (await listDowntimes(db, range)).map((span) => ({
    rule: 'R17' as const,
    severity: 'INFO' as const,
    sensorId: null,
    ...span,
    value: null,
    threshold: null,
    note: 'The service was down: data that arrived later count',
  }));
}

/** R13: the days on which what verifies a measuring point differs from what counts there. */
async function findDifferences(parts: Parts, place: LimitedPlace, days: readonly number[]): Promise<Flag[]> {
  if (place.kind !== 'point') return [];
  return (await readVerifiedDays(parts, place, days)).flatMap(({ from, until, counted, verified }) =>
    differingCounts({ from, until }, counted, verified),
  );
}

/** A day with what counted at a measuring point, and what verified it, both of the whole day. */
interface VerifiedDay extends Interval {
  readonly counted: number;
  readonly verified: number;
}

/**
 * The complete days of a measuring point that another sensor verified. Where that is assigned to some lanes only, these are
 * compared.
 * @param days the bounds of local days
 */
async function readVerifiedDays(
  { db, clock }: Pick<Parts, 'db' | 'clock'>,
  place: LimitedPlace,
  days: readonly number[],
): Promise<VerifiedDay[]> {
  const assigned = (await readAssigned(db, place)).filter(({ isHere, role }) => isHere && role === 'VERIFY');
  if (assigned.length === 0) return [];
  const read = async (isVerified: boolean): Promise<Bin[]> =>
    (
      await readTraffic(db, { ...place, isVerified }, inIntervals(place, days), {
        now: clock.now(),
        detail: 'kinds',
      })
    ).binsOf(days);
  const [counted, verified] = [await read(false), await read(true)];
  return counted.flatMap((day, n) => {
    const other = verified[n];
    if (day.status !== 'VALID' || other?.status !== 'VALID') return [];
    const held = assigned.filter(({ from, until }) => from < day.end && until > day.start);
    const isCompared = ({ lane }: Cell): boolean =>
      held.some((each) => each.lane === null || each.lane === `${lane}`);
    const volumeOf = ({ cells }: Bin): number =>
      cells.filter((cell) => isMotor(cell) && isCompared(cell)).reduce((sum, { volume }) => sum + volume, 0);
    return [{ from: day.start, until: day.end, counted: volumeOf(day), verified: volumeOf(other) }];
  });
}

/** R18: the days of the calendar. */
async function findCalendarFlags(
  { db, settings }: Parts,
  place: LimitedPlace,
  range: Interval,
): Promise<AnyFlag[]> {
  const days = [...localDays(range, settings.current().timezone)];
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return [];
  const entries = await daysOfPlace(db, place, first.day, last.day);
  return days.flatMap(({ day, from, until }) =>
    entries
      .filter(({ date }) => date === day)
      .map(({ kind, name }) => ({
        rule: 'R18' as const,
        severity: SEVERITIES.R18,
        sensorId: null,
        from,
        until,
        value: null,
        threshold: null,
        note: `${kind}: ${name}`,
      })),
  );
}

async function describeFlags(
  { db }: Parts,
  place: LimitedPlace,
  flags: readonly AnyFlag[],
  { verdicts: { reviews } }: Traffic,
): Promise<QualityFlag[]> {
  const nameOf = await findNames(
    db,
    flags.flatMap(({ sensorId }) => sensorId ?? []),
  );
  return flags.map(({ rule, severity, from, until, value, threshold, lane, sensorId, note = null }) => ({
    rule,
    severity,
    from: new Date(from),
    until: new Date(until),
    value: value === null ? null : roundTo(value, 4),
    threshold: threshold === null ? null : roundTo(threshold, 4),
    ...(lane !== undefined && { lane }),
    sensorId,
    sensorName: sensorId === null ? null : (nameOf.get(sensorId)?.sensorName ?? null),
    note,
    decision: decisionAbout(
      { from, until },
      reviews.filter(({ placeId }) => [place.id, place.locationId, sensorId].includes(placeId)),
    ),
  }));
}

/** What is left of each day. */
function describeDays(
  bins: readonly Bin[],
  gaps: readonly Flag[],
  flags: readonly AnyFlag[],
  { whole, zone }: { whole: Interval; zone: string },
): DataQualityOfPlace['days'] {
  const days = binsByDay(markGaps(bins, gaps), whole, zone);
  const rules = rulesByDay(days, flags);
  return days.map((day, n) => ({
    date: day.day,
    status: dayVolume(day, zone).status,
    coverage: roundTo(coveredOf(day.bins) / (day.until - day.from), 4),
    rules: rules[n] ?? [],
  }));
}

/**
 * Records the decision of a person about the data of a place in a range.
 * @throws AppError `notFound`; `badRequest` for a range that ends before it starts, is too long, or lies in the future
 */
export async function reviewData(
  { app, actor, caller }: ActorContext,
  { decision, reason, ...input }: ReviewDataInput,
): Promise<DataReview> {
  const { timezone: zone } = app.settings.current();
  const range = requireRange(input, zone);
  if (range.from >= app.clock.now())
    throw invalidInput('startDate', 'There are no data of the future: choose a startDate in the past');
  const place = await getPlace(app.db, input);
  return inTransaction(app.db, async (tx) => {
    const stored = await insertReview(tx, place, range, { decision, reason, userId: actor.id });
    await recordActivity(tx, actor.id, caller, 'traffic.reviewData', {
      reviewId: stored.id,
      [`${place.kind}Id`]: place.id,
      from: new Date(range.from).toISOString(),
      until: new Date(range.until).toISOString(),
      decision,
      reason,
    });
    const [review] = await describeReviews(tx, [stored]);
    if (!review) throw new Error('A stored decision was not described');
    return review;
  });
}

/** One page of the decisions about a place, or about all. @throws AppError `notFound` */
export async function listDataReviews(
  { db }: Parts,
  { skip, take, ...place }: DataReviewsInput,
): Promise<Page<DataReview>> {
  const isOfPlace = Object.values(place).some((id) => id !== undefined);
  return listReviews(db, isOfPlace ? await getPlace(db, place) : null, { skip, take });
}
