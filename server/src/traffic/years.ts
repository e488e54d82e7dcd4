import { isDeepStrictEqual } from 'node:util';
import { DAY_MS } from '@gantry/contract/durations';
import type { NetworkAadt, NetworkAadtInput } from '@gantry/contract/figures';
import { pageCount } from '@gantry/contract/page';
import { DateTime } from 'luxon';
import type { Database } from '../platform/database/pool.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import { invalidInput } from '../platform/error.ts';
import { aadtOf, type MonthOfDays, madt, type YearOfHours, yearOf } from './annual.ts';
import type { Count } from './bin.ts';
import type { Parts } from './figures.ts';
import { markLongGaps, readKeptHours } from './gaps.ts';
import { getPlace, type LimitedPlace } from './places-store.ts';
import {
  findMissingYear,
  findYear,
  type LocalYear,
  listMonthsOfLocations,
  listYears,
  type MonthsOfLocation,
  putYear,
  readConcerns,
  removeChangedYears,
  type StoredYear,
  takeTurn,
} from './years-store.ts';

// The hours of years that are over, which are stored so that annual figures of many places are read at once.

/** The year of the local calendar. */
export function localYear(year: number, zone: string): LocalYear {
  const first = DateTime.fromObject({ year }, { zone });
  return { year, zone, from: first.toMillis(), until: first.plus({ years: 1 }).toMillis() };
}

/**
 * The volumes of hours from which means of days and hours are computed: those with too long a gap (R2) are marked.
 * @returns also how many days of sensors are still to be judged
 */
async function readHours(
  db: Executor,
  place: LimitedPlace,
  range: { readonly from: number; readonly until: number },
  at: { zone: string; now: number },
): Promise<{ hours: Count[]; unjudgedDays: number }> {
  const { traffic, hours } = await readKeptHours(db, place, range, at);
  const marked = await markLongGaps(db, { place, traffic, hours }, hours, at);
  return { hours: marked, unjudgedDays: traffic.verdicts.unjudgedDays };
}

/** The hours of a year as far as its figures need them, stored or not. */
export async function readYear(
  db: Executor,
  place: LimitedPlace,
  year: LocalYear,
  now: number,
): Promise<YearOfHours> {
  const stored = year.until < now && place.spans === undefined ? await findYear(db, place.id, year) : null;
  if (stored) return stored;
  const { hours } = await readHours(db, place, year, { zone: year.zone, now });
  return yearOf(hours, year, year.zone);
}

/** So long after its end a year is stored, in milliseconds: how long a sensor was silent at its end is known by then. */
const SETTLED_MS = 5 * DAY_MS;

/**
 * Removes stored years that are no longer right, and stores one that is missing, unless another process does so. A change that
 * is made meanwhile stays noted, and removes the year the next time.
 * @returns whether there may be another one
 */
export function storeNextYear(db: Database, { zone, now }: { zone: string; now: number }): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    if (!(await takeTurn(tx))) return false;
    await removeChangedYears(tx);
    const missing = await findMissingYear(tx, zone, now - SETTLED_MS);
    if (!missing) return false;
    const { kind, id } = missing;
    const place = await getPlace(tx, kind === 'point' ? { pointId: id } : { locationId: id });
    const year = localYear(missing.year, zone);
    const concerns = await readConcerns(tx, place);
    const { hours, unjudgedDays } = await readHours(tx, place, year, { zone, now });
    if (unjudgedDays > 0) return false;
    await putYear(tx, { kind, id: place.id, concerns }, year, yearOf(hours, year, zone));
    return true;
  });
}

/**
 * Finds stored years that differ from their counts. What a change concerns is not used, and so not compared.
 * @param limit maximum number
 */
export async function findWrongYears(db: Executor, now: number, limit: number): Promise<StoredYear[]> {
  const wrong: StoredYear[] = [];
  for (const year of await listYears(db)) {
    if (wrong.length >= limit) break;
    const { kind, id, zone } = year;
    const stored = await findYear(db, id, year);
    if (!stored) continue;
    const place = await getPlace(db, kind === 'point' ? { pointId: id } : { locationId: id });
    const { hours } = await readHours(db, place, year, { zone, now });
    if (!isDeepStrictEqual(stored, yearOf(hours, year, zone))) wrong.push(year);
  }
  return wrong;
}

/** Locations of which a reader computes a year that is not stored yet; others are stored soon. */
const MAX_COMPUTED = 8;

/**
 * The annual average daily traffic of all locations with traffic in a year that is over, the largest first.
 * @throws AppError `badRequest` for a year that is not over
 */
export async function getNetworkAadt(
  { db, settings, clock }: Parts,
  { year, method, allowMissing, locationIds, skip, take }: NetworkAadtInput,
): Promise<NetworkAadt> {
  const { timezone } = settings.current();
  const [wanted, now] = [localYear(year, timezone), clock.now()];
  if (wanted.until > now)
    throw invalidInput(
      'year',
      'This year is not over: choose an earlier one, or ask traffic.getAadt of one place',
    );
  const listed = await listMonthsOfLocations(db, wanted, locationIds ?? null);
  const missing = new Set(listed.filter(({ months }) => months === null).slice(0, MAX_COMPUTED));
  const known: MonthsOfLocation[] = [];
  for (const location of listed)
    known.push(
      missing.has(location) ? { ...location, months: await readMonths(db, location, wanted, now) } : location,
    );
  const locations = known
    .map(({ locationId, locationName, months }) => {
      const { value, n, status, reason, published } = months
        ? aadtOf(months, method, { allowMissing })
        : { ...NOT_COMPUTED, published: null };
      return { locationId, locationName, value, n, status, reason, published };
    })
    .sort((a, b) => (b.value ?? -1) - (a.value ?? -1) || (a.locationId < b.locationId ? -1 : 1));
  return {
    timezone,
    year,
    method,
    locations: locations.slice(skip, skip + take),
    total: locations.length,
    pageCount: pageCount(locations.length, take),
    pending: known.filter(({ months }) => months === null).length,
  };
}

const NOT_COMPUTED = {
  value: null,
  n: 0,
  status: 'INSUFFICIENT',
  reason: 'This year is still being computed: ask again in some minutes',
} as const;

async function readMonths(
  db: Executor,
  { locationId }: MonthsOfLocation,
  year: LocalYear,
  now: number,
): Promise<MonthOfDays[]> {
  const { months } = await readYear(db, await getPlace(db, { locationId }), year, now);
  return months.map((month) => ({ ...month, mean: madt(month) }));
}
