import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { safeText } from '../describe-error.ts';
import { Client, clientSettings, describeAddress } from './address.ts';
import { explainIgnoredParameter, explainRefusal } from './explain-refusal.ts';
import { isConnectionRefused, isDatabaseAway } from './failure.ts';
import { connectionsOf, STATEMENT_TIMEOUT_MS } from './pool.ts';
import type { Executor } from './transaction.ts';

const PATIENCE_MS = 30_000;
const PAUSE_MS = 500;

export interface WaitOptions {
  /** Whether to accept, with a warning, a server that may lose committed data. */
  readonly allowUnsafe: boolean;
  readonly log: Logger;
  /** Interrupts the wait. */
  readonly signal?: AbortSignal | undefined;
}

/** A PostgreSQL server that this service cannot use. */
export class UnsuitableDatabase extends Error {
  override readonly name = 'UnsuitableDatabase';
}

/** Server settings that must be on, because otherwise committed data may not survive a crash. */
const DURABILITY = ['fsync', 'synchronous_commit', 'full_page_writes'] as const;

/**
 * Waits up to 30 s for the database, which may be starting at the same time.
 * @throws UnsuitableDatabase when it cannot be reached or used; the message says what to do
 * @throws the reason of the signal, or an error for which there is no explanation
 */
export async function waitForDatabase(connectionString: string, options: WaitOptions): Promise<void> {
  const { log, signal } = options;
  const deadline = performance.now() + PATIENCE_MS;
  let logged: string | null = null;
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await unlessAborted(signal, check(connectionString, options));
    } catch (error) {
      signal?.throwIfAborted();
      const explanation = explainRefusal(error, connectionString);
      if (isConnectionRefused(error) || !isDatabaseAway(error) || performance.now() > deadline)
        throw explanation === null ? error : new UnsuitableDatabase(explanation, { cause: error });
      const reason = explanation ?? safeText(error);
      if (reason !== logged) log.info({ reason }, 'waiting for the database');
      logged = reason;
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/**
 * The result of the work. If the signal is aborted first, the work continues and its result is ignored.
 * @throws the reason of the signal
 */
function unlessAborted<Result>(signal: AbortSignal | undefined, work: Promise<Result>): Promise<Result> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

interface Rights {
  readonly role: string;
  readonly database: string;
  readonly standby: boolean;
  readonly read_only: boolean;
  /** Where the role creates tables; null if its search_path names no schema that exists. */
  readonly schema: string | null;
  /** Whether the role may create tables; null if there is no schema public. */
  readonly may_create: boolean | null;
  /** The owner of tables that the role can neither change nor migrate; null if there are none. */
  readonly owner: string | null;
}

interface Found extends Rights {
  readonly version: number;
  /** Settings for durability that are off. */
  readonly off: string[];
  readonly encoding: string;
  /** The settings of the connection that are in force. */
  readonly session: string | null;
  readonly statement_timeout: number;
}

/** @throws UnsuitableDatabase when the role may not do what the service needs */
function requireRights({ role, database, standby, read_only, schema, may_create, owner }: Rights): void {
  if (standby) {
    throw new UnsuitableDatabase(
      'The database server is a standby, which only reads: name the primary in DATABASE_URL',
    );
  }
  if (read_only) {
    throw new UnsuitableDatabase(
      `The role ${role} can only read in the database ${database}, because default_transaction_read_only is on: see whether the disk of the server is full, and switch it off`,
    );
  }
  if (may_create === null) {
    throw new UnsuitableDatabase(
      `The database ${database} has no schema public: run CREATE SCHEMA public AUTHORIZATION ${role}`,
    );
  }
  if (!may_create) {
    throw new UnsuitableDatabase(
      `The role ${role} may not create tables in the database ${database}: run GRANT CREATE ON SCHEMA public TO ${role} in it, or make the role the owner with ALTER DATABASE ${database} OWNER TO ${role}`,
    );
  }
  if (schema === null) {
    throw new UnsuitableDatabase(
      `The search_path of the role ${role} in the database ${database} names no schema in which it may work: add public to it`,
    );
  }
  if (owner !== null) {
    throw new UnsuitableDatabase(
      `The tables in the database ${database} belong to the role ${owner}: name that role in DATABASE_URL instead of ${role}`,
    );
  }
}

function requireDurable(off: readonly string[], { allowUnsafe, log }: WaitOptions): void {
  if (off.length === 0) return;
  const settings = off.join(' and ');
  const danger = 'acknowledged events can be lost when the database server fails';
  if (!allowUnsafe) {
    throw new UnsuitableDatabase(
      `The database server runs with ${settings} off, so ${danger}: switch ${settings} on, or set ALLOW_UNSAFE_DATABASE=true to accept that`,
    );
  }
  log.warn(`the database server runs with ${settings} off, which ALLOW_UNSAFE_DATABASE accepts: ${danger}`);
}

async function check(connectionString: string, options: WaitOptions): Promise<void> {
  const session = randomUUID();
  const client = new Client(
    clientSettings(connectionString, {
      connectionTimeoutMillis: 5_000,
      // As on the connections that are opened later, so that a pooler that refuses these settings, or ignores them, is
      // detected here. No setting of the server or the role equals the one of this session.
      statement_timeout: STATEMENT_TIMEOUT_MS,
      options: `-c gantry.session=${session}`,
    }),
  );
  // Statements on it fail with the same error.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<Found>(
      `SELECT current_setting('gantry.session', true) AS session,
        (SELECT setting::int FROM pg_settings WHERE name = 'statement_timeout') AS statement_timeout,
        current_setting('server_version_num')::int AS version,
        ARRAY(SELECT name FROM unnest($1::text[]) AS name WHERE current_setting(name) = 'off') AS off,
        current_setting('server_encoding') AS encoding,
        current_user AS role, current_database() AS database, pg_is_in_recovery() AS standby,
        current_setting('default_transaction_read_only') = 'on' AS read_only, current_schema() AS schema,
        has_schema_privilege(to_regnamespace('public'), 'CREATE') AS may_create,
        (SELECT pg_get_userbyid(relowner) FROM pg_class
          WHERE oid = to_regclass('public.schema_migrations') AND NOT pg_has_role(relowner, 'USAGE')) AS owner`,
      [DURABILITY],
    );
    const [server] = rows;
    if (server && (server.session !== session || server.statement_timeout !== STATEMENT_TIMEOUT_MS))
      throw new UnsuitableDatabase(explainIgnoredParameter(connectionString));
    if (!server || server.version < 150_000)
      throw new UnsuitableDatabase(
        `Gantry needs PostgreSQL 15 or newer, and the server ${describeAddress(connectionString).server} is older: update it, or name another one in DATABASE_URL`,
      );
    if (server.encoding !== 'UTF8') {
      throw new UnsuitableDatabase(
        `The database has the encoding ${server.encoding}: create it with ENCODING 'UTF8'`,
      );
    }
    requireRights(server);
    requireDurable(server.off, options);
  } finally {
    await client.end();
  }
}

/** How many connections a service may open, and how many there are for it. */
export interface ComparedConnections {
  /** The maximum number of connections of all its processes together. */
  readonly needed: number;
  /** Connections of clients other than Gantry that count towards `allowed`. */
  readonly others: number;
  /** What the server, the role or the database allows, whichever leaves the fewest. */
  readonly allowed: number;
}

/** Compares the connections that a service may open with the limits of the server, the role and the database. */
export async function compareConnections(
  db: Executor,
  config: Pick<Config, 'WORKERS' | 'DATABASE_POOL_SIZE'>,
): Promise<ComparedConnections> {
  // Limits of the role and the database do not apply to superusers. The setting `reserved_connections` was added in
  // PostgreSQL 16.
  const { rows } = await db.execute<
    Pick<ComparedConnections, 'others' | 'allowed'> & Record<string, unknown>
  >(sql`
    WITH limits AS (
      SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0) AS allowed, NULL::oid AS role, NULL::oid AS base
      UNION ALL SELECT rolconnlimit, oid, NULL FROM pg_roles
        WHERE rolname = session_user AND rolconnlimit >= 0 AND NOT rolsuper
      UNION ALL SELECT datconnlimit, NULL, d.oid FROM pg_database d JOIN pg_roles ON rolname = session_user
        WHERE datname = current_database() AND datconnlimit >= 0 AND NOT rolsuper
    )
    SELECT allowed, others FROM limits, LATERAL (SELECT count(*)::int AS others FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND application_name NOT LIKE 'gantry%'
        AND usesysid = coalesce(role, usesysid) AND datid = coalesce(base, datid)) AS counted
    ORDER BY allowed - others LIMIT 1`);
  if (!rows[0]) throw new Error('PostgreSQL did not return its limits of connections');
  return { needed: connectionsOf(config), ...rows[0] };
}

/** Logs a warning if the limits are below what the service may open. */
export async function warnOfFewConnections(db: Executor, config: Config, log: Logger): Promise<void> {
  const { needed, others, allowed } = await compareConnections(db, config);
  if (needed + others <= allowed) return;
  log.warn(
    { needed, others, allowed },
    `the service may open ${needed} connections, others use ${others}, and the database server allows ${allowed}, so requests will be refused under load: raise its max_connections, or CONNECTION LIMIT of the role or database if it is lower, or lower DATABASE_POOL_SIZE or WORKERS`,
  );
}
