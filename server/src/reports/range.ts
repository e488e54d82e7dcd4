import { MAX_REPORT_YEARS } from '@gantry/contract/reports';
import { DateTime } from 'luxon';
import { invalidInput } from '../platform/error.ts';
import { type Interval, resolveInterval } from '../platform/time.ts';

/** Times that PostgreSQL and JavaScript write in the same way, and of which there can be anything. */
const EARLIEST = 0;
const LATEST = Date.UTC(9000, 0);

/** @throws AppError `badRequest` for an end before the start, and for a range that is too long or out of all time */
export const resolveReportRange = (
  range: { startDate: string; endDate: string },
  timezone: string,
): Interval => {
  const { from, until } = resolveInterval(range, timezone);
  if (from < EARLIEST)
    throw invalidInput('startDate', 'Nothing is older than 1970: choose a later startDate');
  if (until > LATEST) throw invalidInput('endDate', 'Choose an endDate before the year 9000');
  const longest = DateTime.fromMillis(from, { zone: timezone })
    .plus({ years: MAX_REPORT_YEARS, days: 1 })
    .toMillis();
  if (until > longest) {
    throw invalidInput(
      'endDate',
      `A report covers at most ${MAX_REPORT_YEARS} years: choose a shorter range`,
    );
  }
  return { from, until };
};
