import { type AppError, unavailable } from '../error.ts';
import { isDatabaseAway, sqlState } from './failure.ts';

/** PostgreSQL refused or could not be reached, and what was sent is not to blame: it may be sent again. */
export function isOutage(error: unknown): boolean {
  return sqlState(error) !== null || isDatabaseAway(error);
}

/** What a device hears of an outage. */
export function databaseAway(cause?: unknown): AppError {
  return unavailable('The database is unavailable: try again in a moment', cause);
}
