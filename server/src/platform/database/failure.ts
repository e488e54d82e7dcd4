import { DatabaseError } from 'pg';
import { type AppError, unavailable } from '../error.ts';
import { UnreadableTlsFile } from './address.ts';
import { NoPrimary } from './primary.ts';

/** The SQLSTATE of an error or of one of its causes; null if PostgreSQL did not raise it. */
export function sqlState(error: unknown): string | null {
  for (const cause of causes(error)) if (cause instanceof DatabaseError) return stateOf(cause);
  return null;
}

/** What a node of a Citus cluster reports about a row, and its SQLSTATE. */
const REFUSED_ROWS: readonly (readonly [RegExp, string])[] = [
  [/^duplicate key value violates unique constraint "/, '23505'],
  [/^no partition of relation "[^"]+" found for row$/, '23514'],
  [/^new row for relation "[^"]+" violates (partition|check) constraint/, '23514'],
  [/^null value in column "[^"]+" of relation "[^"]+" violates not-null constraint$/, '23514'],
];

// Citus stores rows on its nodes by COPY and reports the errors of nodes with the message alone. Only errors about a row
// are recognized by the message. Others, such as a full disk, keep the state XX000 and count as an outage.
function stateOf({ code, routine, message }: DatabaseError): string | null {
  if (code !== 'XX000' || routine !== 'ReportCopyError') return code ?? null;
  return REFUSED_ROWS.find(([pattern]) => pattern.test(message))?.[1] ?? code;
}

export function isUniqueViolation(error: unknown): boolean {
  return sqlState(error) === '23505';
}

export function isForeignKeyViolation(error: unknown): boolean {
  return sqlState(error) === '23503';
}

/** Whether there is no partition for a row, which PostgreSQL reports as a failed check. */
export function isMissingPartition(error: unknown): boolean {
  return sqlState(error) === '23514';
}

/**
 * Whether the row itself is at fault (a value or a constraint), so that the same statement without it would succeed.
 */
export function isBadRow(error: unknown): boolean {
  return /^(22|23|54)/.test(sqlState(error) ?? '');
}

/** A deadlock or a serialization failure: the same transaction may succeed if it is tried again. */
export function isTransient(error: unknown): boolean {
  return /^40/.test(sqlState(error) ?? '');
}

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

const REFUSED_STATES = /^(28|3D000|F0)/;
const REFUSED_CODES = /^(CERT_|DEPTH_ZERO_|ERR_OSSL_|ERR_SSL_|ERR_TLS_|SELF_SIGNED_|UNABLE_TO_)/;
const REFUSED_MESSAGES = /^The server does not support SSL connections/;

/**
 * Whether a connection was refused because of the role, its password, the name of the database, the configuration of
 * the server, or a certificate or its file. That lasts until somebody corrects it.
 */
export function isConnectionRefused(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== null) return REFUSED_STATES.test(state);
  for (const cause of causes(error)) {
    if (cause instanceof UnreadableTlsFile) return true;
    const { code, message } = cause as Error & { code?: unknown };
    if ((typeof code === 'string' && REFUSED_CODES.test(code)) || REFUSED_MESSAGES.test(message)) return true;
  }
  return false;
}

/**
 * Whether the server ended the connection with this error, because it is shutting down or the session was terminated.
 */
export function hasEndedSession(error: unknown): boolean {
  return /^(08|57P)/.test(sqlState(error) ?? '');
}

/** Whether the server cancelled a statement, usually because it took longer than `statement_timeout`. */
export function isStopped(error: unknown): boolean {
  return sqlState(error) === '57014';
}

/** Whether no connection of the pool became free in time. */
export function isWithoutConnection(error: unknown): boolean {
  return isAny(error, /^timeout exceeded when trying to connect/);
}

/**
 * Whether pg gave up waiting for the answer to a statement. The server cancels long statements earlier, so it is not
 * responding.
 */
export function isUnanswered(error: unknown): boolean {
  return isAny(error, /^query read timeout/i);
}

/** A statement took too long or waited too long for a lock. The database itself may be available. */
export function isTimeout(error: unknown): boolean {
  return isStopped(error) || sqlState(error) === '55P03' || isUnanswered(error);
}

/**
 * Whether the database is unavailable, full, too busy to answer, or refuses connections, so that trying again later
 * makes sense.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (isConnectionRefused(error)) return true;
  const state = sqlState(error);
  if (state !== null) return AWAY_STATES.test(state);
  for (const cause of causes(error)) {
    const { code, syscall, message } = cause as NodeJS.ErrnoException;
    if (cause instanceof NoPrimary || (typeof code === 'string' && AWAY_CODES.has(code))) return true;
    // A server that stops removes its socket.
    if (code === 'ENOENT' && syscall === 'connect') return true;
    if (AWAY_MESSAGES.test(message)) return true;
  }
  return false;
}

function* causes(error: unknown): Generator<Error> {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) yield at;
}

function isAny(error: unknown, message: RegExp): boolean {
  for (const cause of causes(error)) if (message.test(cause.message)) return true;
  return false;
}

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
