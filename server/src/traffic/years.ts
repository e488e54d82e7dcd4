import { isDeepStrictEqual } from 'node:util';
import { DAY_MS } from '@gantry/contract/durations';
import type { NetworkAadt, NetworkAadtInput } from '@gantry/contract/figures';
import { pageCount } from '@gantry/contract/page';
import type { Logger } from 'pino';
import type { Database } from '../platform/database/pool.ts';
import { type Executor, inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { invalidInput } from '../platform/error.ts';
import { type Rounds, startPeriodic } from '../platform/periodic.ts';
import { monthOf } from '../platform/time.ts';
import { aadtOf, type MonthOfDays, madt, type YearOfHours, yearOf } from './annual.ts';
import type { Count } from './bin.ts';
import type { Parts } from './figures.ts';
import { getPlace, type LimitedPlace } from './places-store.ts';
import { markLongGaps, readKeptHours } from './quality/gaps.ts';
import {
  deferYear,
  findMissingYear,
  findYear,
  type LocalYear,
  listMonthsOfLocations,
  listYears,
  type MissingYear,
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
  return { year, zone, from: monthOf(year, 1, zone).from, until: monthOf(year, 12, zone).until };
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
  const marked = await markLongGaps(db, { place, traffic, hours, areWhole: true }, hours, at);
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

/** What storing needs. */
interface Storing {
  readonly log: Logger;
  /** The time zone of days. */
  readonly zone: string;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Removes stored years that are no longer right, and stores one that is missing, unless another process does so. A change that
 * is made meanwhile stays noted, and removes the year the next time. If storing fails, such as because it takes too long, that year
 * waits, and others are stored before it.
 * @returns whether there may be another one
 */
export async function storeNextYear(db: Database, { log, zone, now }: Storing): Promise<boolean> {
  let missing: MissingYear | null = null;
  try {
    return await inTransaction(db, async (tx) => {
      if (!(await takeTurn(tx))) return false;
      await removeChangedYears(tx);
      missing = await findMissingYear(tx, zone, now - SETTLED_MS);
      return missing !== null && (await storeYear(tx, missing, { zone, now }));
    });
  } catch (err) {
    if (!missing) throw err;
    const attempts = await deferYear(db, missing);
    log.warn(
      { err, ...(missing as MissingYear), attempts },
      'a year of a place could not be stored; it will be tried again later',
    );
    return true;
  }
}

/** @returns whether it was stored; not while some of its days are still to be judged */
async function storeYear(
  tx: Transaction,
  { kind, id, year: number }: MissingYear,
  at: { zone: string; now: number },
): Promise<boolean> {
  const place = await getPlace(tx, kind === 'point' ? { pointId: id } : { locationId: id });
  const year = localYear(number, at.zone);
  const concerns = await readConcerns(tx, place);
  const { hours, unjudgedDays } = await readHours(tx, place, year, at);
  if (unjudgedDays > 0) return false;
  await putYear(tx, { kind, id: place.id, concerns }, year, yearOf(hours, year, at.zone));
  return true;
}

/** How many years of places are stored in a round. */
const YEARS_IN_ROUND = 10;

/**
 * Stores years of places in the background until it is disposed of; disposing waits for the current one. Figures are correct without that; it makes
 * them faster to read.
 * @param parts `now`: the time in Unix milliseconds; `zone`: the time zone of days; `everyMs`: the interval in milliseconds
 */
export function startStoringYears({
  db,
  log,
  now,
  zone,
  everyMs,
}: {
  db: Database;
  log: Logger;
  now: () => number;
  zone: () => string;
  everyMs: number;
}): Rounds {
  const failure = 'years of traffic could not be stored now; the next run will try again';
  return startPeriodic({ everyMs, restMs: 6 * everyMs, log, failure }, async (isOver) => {
    let stored = 0;
    while (
      stored < YEARS_IN_ROUND &&
      !isOver() &&
      (await storeNextYear(db, { log, zone: zone(), now: now() }))
    )
      stored++;
    return stored > 0;
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
