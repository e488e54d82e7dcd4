import type { HourOfWeek, HourOfWeekInput } from '@gantry/contract/traffic';
import { DateTime } from 'luxon';
import { requireRange } from '../platform/time.ts';
import { type Parts, readBuckets, readCompleteness } from './figures.ts';
import { getPlace } from './places-store.ts';
import { localBounds } from './range.ts';
import { meanSpeed, type Speeds, sumOfSpeeds } from './speeds.ts';

/**
 * The traffic of a sensor or a location by hour of the local week, over the hours that have ended.
 * @throws AppError as `getFlow` does
 */
export async function getHourOfWeek(
  { db, settings, clock }: Parts,
  input: HourOfWeekInput,
): Promise<HourOfWeek> {
  const { timezone: zone } = settings.current();
  const range = requireRange(input, zone);
  const place = await getPlace(db, input);
  const bounds = localBounds(range, 60, zone);
  const now = clock.now();
  const [buckets, completeness] = await Promise.all([
    readBuckets(db, place, bounds, { vehicleType: input.vehicleType }),
    readCompleteness(db, place, bounds, now),
  ]);
  const cells = Array.from({ length: 7 * 24 }, (): Speeds[] => []);
  for (const [n, { speeds }] of buckets.entries()) {
    const isOver = (bounds[n + 1] ?? 0) <= now;
    const isGap = speeds.volume === 0 && (completeness.shares[n] ?? 0) === 0;
    if (!isOver || isGap) continue;
    const { weekday, hour } = DateTime.fromMillis(bounds[n] ?? 0, { zone });
    cells[(weekday % 7) * 24 + hour]?.push(speeds);
  }
  const described = cells.map((hours, n) => {
    const speeds = sumOfSpeeds(hours);
    return {
      hour: n % 24,
      hours: hours.length,
      meanVolume: hours.length > 0 ? Math.round((speeds.volume / hours.length) * 1_000) / 1_000 : null,
      meanSpeed: meanSpeed(speeds),
    };
  });
  return {
    timezone: zone,
    days: [0, 1, 2, 3, 4, 5, 6].map((weekday) => ({
      weekday,
      hours: described.slice(weekday * 24, (weekday + 1) * 24),
    })),
  };
}
