import type { TopLocations, TopLocationsInput } from '@gantry/contract/traffic';
import { type Interval, requireRange } from '../platform/time.ts';
import type { Parts } from './figures.ts';
import { wholeOf } from './flow.ts';
import { getPlace } from './places-store.ts';
import { readRollups } from './rollups-store.ts';
import { cutSegments, segmentsOf } from './segments.ts';
import { shareOf } from './speeds.ts';
import { listTopLocations, type TopLocation } from './top-store.ts';

/**
 * The locations with most traffic, the highest speeds, or most vehicles above the limit.
 * @throws AppError `badRequest` for a range that ends before it starts, or is too long
 */
export async function getTopLocations(
  { db, settings }: Parts,
  { by, limit, ...input }: TopLocationsInput,
): Promise<TopLocations> {
  const { timezone } = settings.current();
  const range = requireRange(input, timezone);
  const all = await listTopLocations(db, range);
  const judged: TopLocation[] = [];
  for (const location of all) {
    const { locationId, isLimitChanged } = location;
    const shareOverLimit = isLimitChanged ? await judgeAgain(db, locationId, range) : location.shareOverLimit;
    judged.push({ ...location, shareOverLimit });
  }
  const locations = judged.sort(inOrder(by)).slice(0, limit);
  return { timezone, locations: locations.map(({ isLimitChanged: _, ...shown }) => shown) };
}

/**
 * The fraction above the limit for a location whose limit changed within the range: each speed is compared with the
 * limit at its time.
 */
async function judgeAgain(db: Parts['db'], locationId: string, range: Interval): Promise<number | null> {
  const place = await getPlace(db, { locationId });
  const cuts = place.limits.map(({ since }) => since);
  const rollups = await readRollups(db, place, cutSegments(segmentsOf(range), cuts), { histograms: true });
  return shareOf(wholeOf(rollups, place.limits).judged);
}

/** In descending order, those without a value last; on a tie, the greater id first. */
function inOrder(by: TopLocationsInput['by']) {
  return (a: TopLocation, b: TopLocation): number =>
    (b[by] ?? -1) - (a[by] ?? -1) || (a.locationId < b.locationId ? 1 : -1);
}
