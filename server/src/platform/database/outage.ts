import { type AppError, unavailable } from '../error.ts';
import { isDatabaseAway, sqlState } from './failure.ts';

/** PostgreSQL refused the statement or was unreachable for reasons other than its content, so it may be sent again. */
export function isOutage(error: unknown): boolean {
  return sqlState(error) !== null || isDatabaseAway(error);
}

/** The error that devices get during an outage. */
export function databaseAway(cause?: unknown): AppError {
  return unavailable('The database is unavailable: try again in a moment', cause);
}
