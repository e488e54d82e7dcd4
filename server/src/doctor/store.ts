import { sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';

/** The database server and the connection. */
export interface ServerState {
  readonly version: number;
  readonly off: string[];
  readonly encoding: string;
  readonly standby: boolean;
  readonly may_create: boolean | null;
  /** Connections that roles without special rights may open. */
  readonly connections: number;
  /** Connections of others than Gantry. */
  readonly used_by_others: number;
  /** The longest transaction of anybody, in seconds. */
  readonly longest_transaction: number;
  readonly invalid_indexes: string[];
}

export async function readServerState(db: Executor): Promise<ServerState> {
  const { rows } = await db.execute<ServerState & Record<string, unknown>>(sql`
    SELECT current_setting('server_version_num')::int AS version,
      ARRAY(SELECT name FROM unnest(ARRAY['fsync', 'synchronous_commit', 'full_page_writes']) AS name
        WHERE current_setting(name) = 'off') AS off,
      current_setting('server_encoding') AS encoding,
      pg_is_in_recovery() AS standby,
      has_schema_privilege(to_regnamespace('public'), 'CREATE') AS may_create,
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS connections,
      (SELECT count(*)::int FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND application_name NOT LIKE 'gantry%') AS used_by_others,
      coalesce((SELECT max(extract(epoch FROM clock_timestamp() - xact_start)) FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
          AND application_name <> 'gantry upkeep'), 0)::float8 AS longest_transaction,
      ARRAY(SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid
        AND indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = to_regnamespace('public'))) AS invalid_indexes`);
  if (!rows[0]) throw new Error('PostgreSQL did not return its settings');
  return rows[0];
}

/** The names and checksums of the migrations that were applied; null if there is no schema yet. */
export async function listAppliedMigrations(
  db: Executor,
): Promise<{ name: string; checksum: string }[] | null> {
  const { rows: found } = await db.execute<{ there: boolean }>(
    sql`SELECT to_regclass('public.schema_migrations') IS NOT NULL AS there`,
  );
  if (!found[0]?.there) return null;
  const { rows } = await db.execute<{ name: string; checksum: string }>(
    sql`SELECT name, checksum FROM schema_migrations`,
  );
  return rows;
}

/** Work that waits, and accounts and sensors. */
export interface WorkState {
  readonly late_follow_ups: number;
  readonly failing_follow_ups: number;
  readonly late_messages: number;
  readonly failed_messages: number;
  readonly dead_deliveries: number;
  readonly late_deliveries: number;
  readonly failed_reports: number;
  readonly retention_error: string | null;
  readonly retention_age_days: number | null;
  readonly administrators: number;
  readonly sensors: number;
  readonly silent: number;
  readonly silent_names: string[];
  readonly never_seen: number;
}

export async function readWorkState(db: Executor): Promise<WorkState> {
  const { rows } = await db.execute<WorkState & Record<string, unknown>>(sql`
    SELECT
      (SELECT count(*)::int FROM events_to_follow_up WHERE at < now() - interval '1 minute') AS late_follow_ups,
      (SELECT count(*)::int FROM events_to_follow_up WHERE attempts > 3) AS failing_follow_ups,
      (SELECT count(*)::int FROM device_messages WHERE status = 'RECEIVED' AND due_at < now() - interval '5 minutes')
        AS late_messages,
      (SELECT count(*)::int FROM device_messages WHERE status = 'FAILED') AS failed_messages,
      (SELECT count(*)::int FROM webhook_deliveries WHERE status = 'DEAD') AS dead_deliveries,
      (SELECT count(*)::int FROM webhook_deliveries WHERE status = 'PENDING' AND due_at < now() - interval '10 minutes')
        AS late_deliveries,
      (SELECT count(*)::int FROM reports WHERE status = 'FAILED' AND finished_at > now() - interval '7 days')
        AS failed_reports,
      (SELECT error FROM retention_runs ORDER BY started_at DESC LIMIT 1) AS retention_error,
      (SELECT (extract(epoch FROM now() - max(started_at)) / 86400)::float8 FROM retention_runs) AS retention_age_days,
      (SELECT count(*)::int FROM users WHERE role = 'ADMIN' AND is_active) AS administrators,
      (SELECT count(*)::int FROM sensors) AS sensors,
      (SELECT count(*)::int FROM sensors WHERE status = 'OFFLINE' AND last_communication IS NOT NULL) AS silent,
      ARRAY(SELECT name FROM sensors WHERE status = 'OFFLINE' AND last_communication IS NOT NULL
        ORDER BY last_communication DESC LIMIT 5) AS silent_names,
      (SELECT count(*)::int FROM sensors WHERE last_communication IS NULL) AS never_seen`);
  if (!rows[0]) throw new Error('PostgreSQL did not return the state of the work');
  return rows[0];
}
