import { MAX_RANGE_YEARS } from '@gantry/contract/time';
import { DateTime } from 'luxon';
import { invalidInput } from './error.ts';
import { type Interval, resolveInterval } from './time.ts';

/** PostgreSQL and JavaScript write times before this one in the same way. */
const LATEST = Date.UTC(9000, 0);

/**
 * Resolves the range of a report or of figures.
 * @throws AppError `badRequest` when it ends before it starts, is longer than five years, begins before 1970 or ends in
 * the year 9000 or later
 */
export function requireRange(range: { startDate: string; endDate: string }, zone: string): Interval {
  const { from, until } = resolveInterval(range, zone);
  if (from < 0) throw invalidInput('startDate', 'Nothing is older than 1970: choose a later startDate');
  if (until > LATEST) throw invalidInput('endDate', 'Choose an endDate before the year 9000');
  const longest = DateTime.fromMillis(from, { zone }).plus({ years: MAX_RANGE_YEARS, days: 1 }).toMillis();
  if (until > longest)
    throw invalidInput(
      'endDate',
      `A range covers at most ${MAX_RANGE_YEARS} years: choose an earlier endDate`,
    );
  return { from, until };
}
