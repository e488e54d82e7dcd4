import { describeAddress, UnreadableTlsFile } from './address.ts';
import { sqlState } from './failure.ts';
import { NoPrimary } from './primary.ts';

interface Address {
  readonly server: string;
  readonly database: string;
  readonly user: string;
}

const refusedOptions = ({ server }: Address): string =>
  `The database server ${server} refuses a setting in the options of DATABASE_URL: correct it`;

/** A pooler between the service and the server refuses what the service sets in its sessions, or leaves it out. */
const refusedParameter = ({ server }: Address): string =>
  `${server} refuses a parameter of the connection, as poolers such as PgBouncer do: name the PostgreSQL server itself in DATABASE_URL`;

/** What each SQLSTATE of a refused connection means, and what to do. */
const REFUSED: Readonly<Record<string, (address: Address) => string>> = {
  '08P01': refusedParameter,
  // An invalid value, a syntax error, an unknown setting, and a setting that only a restart can change.
  '22023': refusedOptions,
  '42601': refusedOptions,
  '42704': refusedOptions,
  '55P02': refusedOptions,
  '28P01': ({ server, user }) =>
    `The database server ${server} refuses the password of the role ${user}: correct it in DATABASE_URL`,
  '28000': ({ server, user, database }) =>
    `The database server ${server} does not let the role ${user} connect to ${database}: check the role in DATABASE_URL and pg_hba.conf of the server, and whether it requires TLS (sslmode=verify-full)`,
  '3D000': ({ server, database }) =>
    `There is no database ${database} on the server ${server}: create it with CREATE DATABASE ${database}, or correct the name in DATABASE_URL`,
  '42501': ({ database, user }) =>
    `The role ${user} may not connect to the database ${database}: run GRANT CONNECT ON DATABASE ${database} TO ${user}`,
  F0000: ({ server }) =>
    `The database server ${server} cannot use its configuration: correct pg_hba.conf or postgresql.conf there`,
  '53300': ({ server }) =>
    `The database server ${server} has no connection left for this role: raise its max_connections, or CONNECTION LIMIT of the role or database if it is lower, or lower DATABASE_POOL_SIZE or WORKERS`,
};

/** What each code of an unreachable server means. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the name is unknown',
  EAI_AGAIN: 'the name cannot be looked up now',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to its network',
  ETIMEDOUT: 'it does not answer',
  ENOENT: 'there is no such socket',
  EACCES: 'this user may not open the socket',
};

/** Why a connection cannot be used on which a parameter that was sent is not in force, as a sentence that says what to do. */
export function explainIgnoredParameter(connectionString: string): string {
  return refusedParameter(describeAddress(connectionString));
}

/** Why no connection to the database can be made, as a sentence that says what to do; null for other errors. */
export function explainRefusal(error: unknown, connectionString: string): string | null {
  const address = describeAddress(connectionString);
  const state = sqlState(error);
  if (state !== null) return REFUSED[state]?.(address) ?? null;
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  if (!(first instanceof Error)) return null;
  if (first instanceof UnreadableTlsFile)
    return `${first.message}: let this user read it, or correct DATABASE_URL`;
  if (first instanceof NoPrimary) return first.message;
  const { code, message } = first as NodeJS.ErrnoException;
  const because = UNREACHABLE[code ?? ''] ?? (/timeout/i.test(message) ? 'it does not answer' : null);
  if (because !== null)
    return `The database server ${address.server} cannot be reached, because ${because}: start it, or correct DATABASE_URL`;
  if (/password must be/i.test(message))
    return `The database server ${address.server} asks for the password of the role ${address.user}: add it to DATABASE_URL`;
  if (/does not support SSL/i.test(message))
    return `The database server ${address.server} does not offer TLS: set ssl = on there, or remove sslmode from DATABASE_URL`;
  if (code?.startsWith('ERR_OSSL_'))
    return `No TLS connection to the database server ${address.server} can be made (${message}): correct the files that sslcert and sslkey in DATABASE_URL name`;
  if (/SSL|certificate|self.signed/i.test(`${message} ${code}`))
    return `No TLS connection to the database server ${address.server} can be made (${message}): correct its certificate, name the file of its authority with sslrootcert in DATABASE_URL, or accept any certificate with sslmode=no-verify`;
  return null;
}
