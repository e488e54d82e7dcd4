import type { TopLocations, TopLocationsInput } from '@gantry/contract/traffic';
import type { Executor } from '../platform/database/transaction.ts';
import { always, type History, heldAt } from '../platform/history.ts';
import { type Interval, requireRange } from '../platform/time.ts';
import { locationLimits } from '../sensors/placements-store.ts';
import { asWhole, readTraffic } from './figures.ts';
import { wholeOf } from './flow.ts';
import { source } from './passed-store.ts';
import { getPlace, onSlots } from './places-store.ts';
import { type KnownSensor, readSensorsAt } from './presence-store.ts';
import { NOTHING_REJECTED, type Rejected } from './quality/rejected.ts';
import { asKnown, readRejected } from './quality/sensor-flags.ts';
import { findDoubtedLocations } from './quality/store.ts';
import {
  judgeParts,
  type KeptPart,
  listTopLocations,
  readSharesOverLimit,
  sumParts,
  type TopLocation,
} from './ranking-store.ts';
import { cutSegments, segmentsOf } from './segments.ts';
import { meanOf, meanSpeed, shareOf } from './speeds.ts';
import type { Configured } from './studies.ts';

/** A location, with its share above the limit if that is known already. */
type Ranked = TopLocation & { readonly shareOverLimit?: number | null };

/** What is asked about all locations. */
interface Asked {
  readonly range: Interval;
  readonly zone: string;
  readonly now: number;
}

/**
 * The locations with most traffic, the highest speeds, or most vehicles above the limit.
 * @throws AppError `badRequest` for a range that ends before it starts, or is too long
 */
export async function getTopLocations(
  { db, settings, clock, config }: Configured,
  { by, limit, minimumVolume, ...input }: TopLocationsInput,
): Promise<TopLocations> {
  const { timezone } = settings.current();
  const range = requireRange(input, timezone);
  const asked: Asked = { range, zone: timezone, now: clock.now() };
  const doubted = await findDoubtedLocations(db, range);
  const listed = await listTopLocations(db, range);
  const parts = await readKeptParts(
    db,
    listed.filter((each) => isDivided(each, doubted)),
    asked,
  );
  const known = (await withSums(db, listed, { ...asked, parts, hasShare: by === 'shareOverLimit' })).filter(
    ({ volume, measured }) => volume > 0 && (by === 'volume' || measured >= minimumVolume),
  );
  // Shares are read from histograms, so only of the locations that are shown, if possible.
  const ranked =
    by === 'shareOverLimit'
      ? (await withShares(db, known, { ...asked, parts })).sort(inOrder(by)).slice(0, limit)
      : await withShares(db, known.sort(inOrder(by)).slice(0, limit), { ...asked, parts });
  return {
    timezone,
    locations: ranked.map(({ isMixed: _, isLimitChanged: __, units, ...shown }) => ({
      shareOverLimit: null,
      ...shown,
      units: units ?? config.SPEED_UNITS,
    })),
  };
}

/** Parts of what was counted at locations, by their ids. */
type Parts = ReadonlyMap<string, readonly KeptPart[]>;

/** Whether a location is summed in parts: some of its data may be rejected, or its limit changed. */
function isDivided(
  { locationId, isMixed, isLimitChanged }: TopLocation,
  doubted: ReadonlySet<string>,
): boolean {
  return !isMixed && (isLimitChanged || doubted.has(locationId));
}

/** What is left of the data of locations whose sensors are all of one type, in parts in which no limit changes. */
async function readKeptParts(
  db: Executor,
  locations: readonly TopLocation[],
  { range, now }: Asked,
): Promise<Parts> {
  if (locations.length === 0) return new Map();
  const ids = locations.map(({ locationId }) => locationId);
  const sensors = await readSensorsAt(db, ids);
  const limits = await locationLimits.read(db, ids);
  const rejected = await readRejected(db, sensors, range, now);
  return new Map(
    locations.map(({ locationId, speedLimit }) => [
      locationId,
      partsOf(locationId, sensors.get(locationId) ?? [], {
        range,
        limits: onSlots(limits.get(locationId) ?? always(speedLimit)),
        rejected: rejected.get(locationId) ?? NOTHING_REJECTED,
      }),
    ]),
  );
}

/** What is left of the data of sensors at a location. */
function partsOf(
  locationId: string,
  sensors: readonly KnownSensor[],
  { range, limits, rejected }: { range: Interval; limits: History<number | null>; rejected: Rejected },
): KeptPart[] {
  const changes = limits.map(({ since }) => since);
  const segments = cutSegments(cutSegments(segmentsOf(range), changes), rejected.cuts);
  const counting = sensors.flatMap((each) =>
    each.source === null ? [] : [{ sensorId: each.sensorId, source: each.source }],
  );
  return [...counting, { sensorId: locationId, source: source.EARLIER }].flatMap((sensor) =>
    segments.flatMap((segment) => {
      const held = heldAt(limits, segment.from) ?? null;
      const limit = held === null ? null : Math.ceil(held);
      return rejected
        .keptWithin(sensor.sensorId, segment)
        .map((kept) => ({ ...segment, ...kept, ...sensor, locationId, limit }));
    }),
  );
}

/** Locations with the sums of what is not rejected. Of several types of sensors, those that count are found for each location by itself. */
async function withSums(
  db: Executor,
  locations: readonly TopLocation[],
  { parts, hasShare, ...asked }: Asked & { readonly parts: Parts; readonly hasShare: boolean },
): Promise<Ranked[]> {
  const sums = await sumParts(db, [...parts.values()].flat());
  const all: Ranked[] = [];
  for (const location of locations) {
    const { locationId, isMixed } = location;
    if (isMixed) all.push(await readLocation(db, location, asked, hasShare));
    else if (parts.has(locationId)) {
      const { volume, measured, speedSum } = sums.get(locationId) ?? { volume: 0, measured: 0, speedSum: 0 };
      all.push({ ...location, volume, measured, meanSpeed: meanOf(measured, speedSum) });
    } else all.push(location);
  }
  return all;
}

async function withShares(
  db: Executor,
  locations: readonly Ranked[],
  { parts, ...asked }: Asked & { readonly parts: Parts },
): Promise<Ranked[]> {
  const simple = locations.filter(({ locationId, isMixed }) => !isMixed && !parts.has(locationId));
  const shares = await readSharesOverLimit(
    db,
    simple.map(({ locationId }) => locationId),
    asked.range,
  );
  const judged = await judgeParts(
    db,
    locations.flatMap(({ locationId }) => parts.get(locationId) ?? []),
  );
  const all: Ranked[] = [];
  for (const location of locations) {
    const { locationId, isMixed, shareOverLimit } = location;
    if (shareOverLimit !== undefined) all.push(location);
    else if (isMixed) all.push(await readLocation(db, location, asked, true));
    else {
      const found = judged.get(locationId);
      const share = parts.has(locationId) ? found && shareOf(found) : shares.get(locationId);
      all.push({ ...location, shareOverLimit: share ?? null });
    }
  }
  return all;
}

/**
 * The figures of a location at which sensors of several types stand, any are assigned to its points, or moves were entered afterwards.
 * @param hasShare false to leave out the share above the limit, for which all speeds would be read
 */
async function readLocation(
  db: Executor,
  location: TopLocation,
  { range, zone, now }: Asked,
  hasShare: boolean,
): Promise<Ranked> {
  const place = await getPlace(db, { locationId: location.locationId });
  const { rollups } = await readTraffic(db, place, asWhole(place, range), {
    now,
    detail: hasShare ? 'speeds' : 'sums',
    excluding: { ...asKnown(zone), isSentKept: true },
  });
  const { speeds, judged } = wholeOf(rollups, place.limits);
  return {
    ...location,
    volume: speeds.volume,
    measured: speeds.measured,
    meanSpeed: meanSpeed(speeds),
    ...(hasShare && { shareOverLimit: shareOf(judged) }),
  };
}

/** In descending order, those without a value last; on a tie, the greater id first. */
function inOrder(by: TopLocationsInput['by']) {
  return (a: Ranked, b: Ranked): number =>
    (b[by] ?? -1) - (a[by] ?? -1) || (a.locationId < b.locationId ? 1 : -1);
}
