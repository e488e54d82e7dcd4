import { type AppError, unavailable } from '../error.ts';
import { isDatabaseAway, sqlState } from './failure.ts';

/**
 * Whether PostgreSQL raised the error, whatever its SQLSTATE, or is unavailable. If the content of the statement cannot
 * be the cause, or errors about rows were handled before, the same statement may be sent again.
 */
export function isOutage(error: unknown): boolean {
  return sqlState(error) !== null || isDatabaseAway(error);
}

/** The error that devices get during an outage. */
export function databaseAway(cause?: unknown): AppError {
  return unavailable('The database is unavailable: try again in a moment', cause);
}
