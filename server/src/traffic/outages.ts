import { DAY_MS, HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import type { Page } from '@gantry/contract/page';
import { MAX_QUALITY_DAYS, type Outage, type OutagesInput } from '@gantry/contract/quality';
import { DateTime } from 'luxon';
import type { Executor } from '../platform/database/transaction.ts';
import { type Interval, SLOT_MS, slotOf } from '../platform/time.ts';
import { type Parts, readTraffic, type Traffic } from './figures.ts';
import { findNames, listStoppedSensors } from './outages-store.ts';
import { source } from './passed-store.ts';
import { getPlace, type LimitedPlace } from './places-store.ts';
import { findStays, type KnownSensor, readEdges, readSensors } from './presence-store.ts';
import { type HourKey, readHoursBefore, usualOf } from './quality/gaps.ts';
import { findNearestHour } from './quality/no-hits-store.ts';
import { minutesOf } from './quality/rejected.ts';
import { THRESHOLDS } from './quality/rules.ts';
import { requireQualityRange } from './quality/service.ts';
import { localBounds } from './range.ts';

/** A time of which nothing is known, or used. */
interface Found extends Interval {
  readonly sensorId: string;
  readonly kind: Outage['kind'];
  readonly lastData: number | null;
  readonly isOver: boolean;
}

/**
 * The outages at a place in a range, or, without a place, the sensors that do not work now.
 * @throws AppError `notFound`; `badRequest` for a range that ends before it starts, or is longer than 366 days
 */
export async function getOutages(
  parts: Parts,
  input: OutagesInput,
): Promise<Page<Outage> & { timezone: string }> {
  const { timezone: zone } = parts.settings.current();
  const { sensorId, locationId, pointId, skip, take } = input;
  const now = parts.clock.now();
  const minimum = input.minimumMinutes * MINUTE_MS;
  if ((sensorId ?? locationId ?? pointId) === undefined) {
    const hours = THRESHOLDS.noHitsHours;
    const limits = { silent: now - minimum, empty: now - hours.MAINLINE * HOUR_MS };
    const { items, total } = await listStoppedSensors(parts.db, limits, { skip, take });
    const found = items.map((each) => ({ ...each, until: now, isOver: false, lastData: each.from }));
    return { timezone: zone, items: await describe(parts, found), total };
  }
  const endDate = input.endDate ?? new Date(now).toISOString();
  const range = requireQualityRange({ startDate: input.startDate ?? endDate, endDate }, zone);
  const place = await getPlace(parts.db, input);
  const found = (await findOutages(parts.db, place, range, { zone, now }))
    .filter(({ from, until }) => until - from >= minimum)
    .sort((a, b) => a.from - b.from || (a.sensorId < b.sensorId ? -1 : 1));
  return {
    timezone: zone,
    items: await describe(parts, found.slice(skip, skip + take)),
    total: found.length,
  };
}

/** The outages of each counting sensor that stood at a place, while it stood there. */
async function findOutages(
  db: Executor,
  place: LimitedPlace,
  range: Interval,
  at: { zone: string; now: number },
): Promise<Found[]> {
  const known = new Map((await readSensors(db, place)).map((sensor) => [sensor.sensorId, sensor] as const));
  const found: Found[] = [];
  for (const { sensorId, from, until } of await findStays(db, place, range)) {
    const sensor = known.get(sensorId);
    if (!sensor || sensor.source === null || sensor.isSilent) continue;
    const stay = { from: from ?? Number.NEGATIVE_INFINITY, until: until ?? Number.POSITIVE_INFINITY };
    found.push(...(await outagesOf(db, { sensor, place, stay }, range, at)));
  }
  return found;
}

/** The outages of a sensor that overlap a range, as a whole. */
async function outagesOf(
  db: Executor,
  { sensor, place, stay }: { sensor: KnownSensor; place: LimitedPlace; stay: Interval },
  range: Interval,
  { zone, now }: { zone: string; now: number },
): Promise<Found[]> {
  const { sensorId } = sensor;
  const [before, after] = await Promise.all([
    findNearestHour(db, sensorId, 'before', range.from),
    findNearestHour(db, sensorId, 'from', range.until),
  ]);
  const longest = MAX_QUALITY_DAYS * DAY_MS;
  const wide = {
    from: slotOf(Math.max(stay.from, before?.hour ?? range.from, range.from - longest)),
    until: slotOf(Math.min(stay.until, now, (after?.hour ?? now) + HOUR_MS) + SLOT_MS - 1),
  };
  if (wide.from >= wide.until) return [];
  const one: LimitedPlace = { kind: 'sensor', id: sensorId, limits: place.limits, speedLimit: null };
  const bounds = slotsOf(wide);
  const hours = {
    from: Math.floor(wide.from / HOUR_MS) * HOUR_MS,
    until: Math.ceil(wide.until / HOUR_MS) * HOUR_MS,
  };
  // What intervals cover is known by slot. Of single vehicles, it is known by itself.
  const minutes = sensor.source === source.COUNTED ? 15 : 60;
  const read = { segments: [{ minutes, ...hours }], edges: [hours.from, hours.until] } as const;
  const traffic = await readTraffic(db, one, read, { now, detail: 'sums', excluding: { zone } });
  const runs = emptyRuns(traffic, bounds, now).filter(
    ({ from, until }) => from < range.until && until > range.from,
  );
  // Of single vehicles, the time of the last one before is known.
  const edges =
    sensor.source === source.COUNTED
      ? null
      : await readEdges(
          db,
          runs.map((run) => [sensorId, run.from - SLOT_MS] as const),
        );
  return runs.map((run) => ({
    ...{ ...run, sensorId, isOver: run.until < Math.min(now, stay.until) },
    ...describeRun(run, traffic, edges?.get(`${sensorId} ${run.from - SLOT_MS}`)?.last ?? null),
  }));
}

function slotsOf({ from, until }: Interval): number[] {
  const bounds: number[] = [];
  for (let at = from; at < until; at += SLOT_MS) bounds.push(at);
  return [...bounds, until];
}

/** The runs of slots of which nothing is known, or used. @param bounds of slots of five minutes */
function emptyRuns(
  traffic: Traffic,
  bounds: readonly number[],
  now: number,
): (Interval & { isOver: boolean })[] {
  const { coverage } = traffic.completenessOf(bounds);
  const counted = new Set(
    traffic.rollups.slots.filter((_, n) => (traffic.rollups.volumes[n] ?? 0) > 0).map(slotOf),
  );
  const runs: { from: number; until: number; isOver: boolean }[] = [];
  for (const [n, share] of coverage.entries()) {
    const [from = 0, end = 0] = [bounds[n], bounds[n + 1]];
    if (share > 0 || counted.has(from) || from >= now) continue;
    const last = runs.at(-1);
    const until = Math.min(end, now);
    if (last?.until === from) last.until = until;
    else runs.push({ from, until, isOver: true });
  }
  return runs;
}

function describeRun(
  { from, until }: Interval,
  { isRejectedIn, verdicts }: Traffic,
  last: number | null,
): Pick<Found, 'kind' | 'lastData'> {
  const silent = verdicts.flags.find((flag) => flag.rule === 'R1' && flag.from < until && flag.until > from);
  const isRejected = isRejectedIn([from, slotOf(until + SLOT_MS - 1)]).includes(true);
  if (isRejected && silent) return { kind: 'NO_HITS', lastData: silent.from };
  return { kind: isRejected ? 'REJECTED' : 'NO_DATA', lastData: last ?? silent?.from ?? from };
}

async function describe(parts: Parts, found: readonly Found[]): Promise<Outage[]> {
  const names = await findNames(
    parts.db,
    found.map(({ sensorId }) => sensorId),
  );
  const usual = await readUsual(parts, found);
  const zone = parts.settings.current().timezone;
  return found.map((each) => {
    const { sensorId, kind, lastData, from, until, isOver } = each;
    return {
      sensorId,
      sensorName: names.get(sensorId)?.sensorName ?? null,
      locationId: names.get(sensorId)?.locationId ?? null,
      locationName: names.get(sensorId)?.locationName ?? null,
      kind,
      lastData: lastData === null ? null : new Date(lastData),
      from: new Date(from),
      until: isOver ? new Date(until) : null,
      minutes: minutesOf(each),
      expectedVolume: expectedVolume(each, usual.get(sensorId), zone),
    };
  });
}

type UsualVolume = ReturnType<typeof usualOf>;

/** The usual volumes of sensors in the 60 days before each of their outages, read once for each sensor. */
async function readUsual(
  { db, settings, clock }: Parts,
  found: readonly Found[],
): Promise<ReadonlyMap<string, UsualVolume>> {
  const zone = settings.current().timezone;
  const usual = new Map<string, UsualVolume>();
  for (const id of new Set(found.map(({ sensorId }) => sensorId))) {
    const place: LimitedPlace = { kind: 'sensor', id, limits: [], speedLimit: null };
    const starts = found.filter(({ sensorId }) => sensorId === id).map(({ from }) => from);
    const before = { from: Math.min(...starts), until: Math.max(...starts) };
    const history = await readHoursBefore(db, place, before, { zone, now: clock.now() });
    usual.set(id, usualOf(history, hourOfWeek(zone)));
  }
  return usual;
}

/** The volume that was probably missed: the means of the same hours of the week in the 60 days before. */
function expectedVolume(
  { from, until }: Found,
  usual: UsualVolume | undefined,
  zone: string,
): Outage['expectedVolume'] {
  const bounds = localBounds({ from, until }, 60, zone);
  let [sum, n, lacking] = [0, 0, 0];
  for (const [index, end] of bounds.slice(1).entries()) {
    const start = bounds[index] ?? end;
    const { mean = null, n: count = 0 } = usual?.(start, from) ?? {};
    if (mean === null) lacking++;
    n += count;
    sum += ((mean ?? 0) * (Math.min(end, until) - Math.max(start, from))) / HOUR_MS;
  }
  if (lacking === 0) return { value: Math.round(sum), n, status: 'VALID', reason: null };
  const reason = `The usual volume of ${lacking} of ${bounds.length - 1} hours is not known`;
  return { value: null, n, status: 'INSUFFICIENT', reason };
}

function hourOfWeek(zone: string): HourKey {
  return (start) => DateTime.fromMillis(start, { zone }).toFormat('c H');
}
