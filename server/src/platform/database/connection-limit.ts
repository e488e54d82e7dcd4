import { sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { connectionsOf } from './pool.ts';
import type { Executor } from './transaction.ts';

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
