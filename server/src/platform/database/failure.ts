import { DatabaseError } from 'pg';

const causes = function* (error: unknown): Generator<Error> {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) yield at;
};

/** The SQLSTATE behind an error, however it is wrapped; null when PostgreSQL did not raise it. */
export const sqlState = (error: unknown): string | null => {
  for (const cause of causes(error)) if (cause instanceof DatabaseError) return cause.code ?? null;
  return null;
};

export const isUniqueViolation = (error: unknown): boolean => sqlState(error) === '23505';
export const isForeignKeyViolation = (error: unknown): boolean => sqlState(error) === '23503';
/** A row has no partition to go to. PostgreSQL tells it as a failed check. */
export const isMissingPartition = (error: unknown): boolean => sqlState(error) === '23514';

/** Whether the row itself is to blame (a value or a constraint), so that the same statement without it would do. */
export const isBadRow = (error: unknown): boolean => /^(22|23|54)/.test(sqlState(error) ?? '');

/** A deadlock or a failed serialisation: the same transaction may succeed if it is tried again. */
export const isTransient = (error: unknown): boolean => /^40/.test(sqlState(error) ?? '');

const AWAY_STATES = /^(08|25006|53|55000|57P0[1-5]|57014|58)/;
const AWAY_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
// pg raises these as plain errors without a code.
const AWAY_MESSAGES =
  /timeout exceeded when trying to connect|connection terminated|query read timeout|client has encountered a connection error|cannot use a pool after calling end|not queryable/i;

/** Whether the server ended the connection with this error: it is shutting down, or somebody ended this session. */
export const hasEndedSession = (error: unknown): boolean => /^(08|57P)/.test(sqlState(error) ?? '');

/** Whether the server stopped a statement, as a rule because it took longer than `statement_timeout`. */
export const isStopped = (error: unknown): boolean => sqlState(error) === '57014';

const isAny = (error: unknown, message: RegExp): boolean => {
  for (const cause of causes(error)) if (message.test(cause.message)) return true;
  return false;
};

/** Whether every connection of the pool was in use for as long as one may wait for it. */
export const isWithoutConnection = (error: unknown): boolean =>
  isAny(error, /^timeout exceeded when trying to connect/);

/** Whether pg gave up waiting for the answer to a statement. The server stops long statements earlier, so it is not heard. */
export const isUnanswered = (error: unknown): boolean => isAny(error, /^query read timeout/i);

/** A statement was given up because it took too long, or waited too long for a lock; the database itself may be well. */
export const isTimeout = (error: unknown): boolean =>
  isStopped(error) || sqlState(error) === '55P03' || isUnanswered(error);

/** Whether the database is away, full, or too busy to answer: trying again later makes sense. */
export const isDatabaseAway = (error: unknown): boolean => {
  const state = sqlState(error);
  if (state !== null) return AWAY_STATES.test(state);
  for (const cause of causes(error)) {
    const { code, message } = cause as Error & { code?: unknown };
    if (typeof code === 'string' && AWAY_CODES.has(code)) return true;
    if (AWAY_MESSAGES.test(message)) return true;
  }
  return false;
};
