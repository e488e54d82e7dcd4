import { sql } from 'drizzle-orm';
import type { Executor } from '../../platform/database/transaction.ts';
import { countsFor } from '../backup/runs-store.ts';

/** The database server and the connection. */
export interface ServerState {
  readonly version: number;
  readonly off: string[];
  readonly encoding: string;
  readonly standby: boolean;
  readonly may_create: boolean | null;
  /** The duration of the longest transaction of any client except Gantry's own upkeep, in seconds. */
  readonly longest_transaction: number;
  readonly invalid_indexes: string[];
  readonly autovacuum: boolean;
  /** The share of transaction ids that are in use, from 0 to 1. */
  readonly used_ids: number;
  readonly wal_compression: string;
  /** The setting `shared_buffers`, in megabytes. */
  readonly buffers: number;
}

/** The version, the settings and the state of the database server. */
export async function readServerState(db: Executor): Promise<ServerState> {
  const { rows } = await db.execute<ServerState & Record<string, unknown>>(sql`
    SELECT current_setting('server_version_num')::int AS version,
      ARRAY(SELECT name FROM unnest(ARRAY['fsync', 'synchronous_commit', 'full_page_writes']) AS name
        WHERE current_setting(name) = 'off') AS off,
      current_setting('server_encoding') AS encoding, current_setting('autovacuum')::boolean AS autovacuum,
      (SELECT age(datfrozenxid)::float8 / 2147483648 FROM pg_database WHERE datname = current_database()) AS used_ids,
      current_setting('wal_compression') AS wal_compression,
      (pg_size_bytes(current_setting('shared_buffers')) / 1048576)::int AS buffers,
      pg_is_in_recovery() AS standby,
      has_schema_privilege(to_regnamespace('public'), 'CREATE') AS may_create,
      coalesce((SELECT max(extract(epoch FROM clock_timestamp() - xact_start)) FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
          AND application_name <> 'gantry upkeep'), 0)::float8 AS longest_transaction,
      ARRAY(SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid
        AND (SELECT relkind FROM pg_class WHERE oid = indexrelid) = 'i'
        AND indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = to_regnamespace('public'))) AS invalid_indexes`);
  if (!rows[0]) throw new Error('PostgreSQL did not return its settings');
  return rows[0];
}

/**
 * After how many hundredths of a second Linux, on the machine of the server, writes changed pages of files to the disk.
 * @returns null if it is another system, or if the role may not read files of the server
 */
export async function readDirtyExpiry(db: Executor): Promise<number | null> {
  // A statement of its own, because PostgreSQL checks the right to call a function even where it is not called.
  const { rows: rights } = await db.execute<{ may_read: boolean }>(sql`
    SELECT pg_has_role('pg_read_server_files', 'USAGE')
      AND has_function_privilege('pg_read_file(text, bigint, bigint, boolean)', 'EXECUTE') AS may_read`);
  if (!rights[0]?.may_read) return null;
  const { rows } = await db.execute<{ expiry: number | null }>(
    sql`SELECT pg_read_file('/proc/sys/vm/dirty_expire_centisecs', 0, 20, true)::int AS expiry`,
  );
  return rows[0]?.expiry ?? null;
}

/** The checkpoints since the statistics of the server were reset. */
export interface CheckpointState {
  /** Because of the size of the WAL, or on request. */
  readonly requested: number;
  readonly timed: number;
  /** The setting `max_wal_size`. */
  readonly limit: string;
}

/** The number of checkpoints that were requested, and of those that were due by time, since the statistics were reset. */
export async function readCheckpointState(
  db: Executor,
  { version }: Pick<ServerState, 'version'>,
): Promise<CheckpointState> {
  const counts =
    version < 170_000
      ? sql`SELECT checkpoints_req AS requested, checkpoints_timed AS timed FROM pg_stat_bgwriter`
      : sql`SELECT num_requested AS requested, num_timed AS timed FROM pg_stat_checkpointer`;
  const { rows } = await db.execute<CheckpointState & Record<string, unknown>>(sql`
    SELECT requested::int, timed::int, current_setting('max_wal_size') AS limit FROM (${counts}) AS made`);
  if (!rows[0]) throw new Error('PostgreSQL did not return its checkpoints');
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

/** Work that waits, and sensors. */
export interface WorkState {
  readonly late_follow_ups: number;
  readonly failing_follow_ups: number;
  readonly late_messages: number;
  readonly failed_messages: number;
  readonly dead_deliveries: number;
  readonly late_deliveries: number;
  readonly failed_reports: number;
  readonly unsent_reports: number;
  readonly retention_error: string | null;
  readonly retention_age_days: number | null;
  readonly sensors: number;
  readonly silent: number;
  readonly silent_names: string[];
  readonly never_seen: number;
  readonly wrong_clocks: number;
  /** At most five of them, with how far each is off: `Main Street (−60 min)`. */
  readonly wrong_clock_names: string[];
  /** Sensors that reported times in the last week that could not be used. */
  readonly unusable_times: number;
  readonly unusable_time_names: string[];
}

/** Work that is late or has failed. */
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
      (SELECT count(*)::int FROM report_dispatches WHERE status = 'FAILED' AND created_at > now() - interval '7 days')
        AS unsent_reports,
      (SELECT error FROM retention_runs ORDER BY started_at DESC LIMIT 1) AS retention_error,
      (SELECT (extract(epoch FROM now() - max(started_at)) / 86400)::float8 FROM retention_runs) AS retention_age_days,
      (SELECT count(*)::int FROM sensors) AS sensors,
      (SELECT count(*)::int FROM sensors WHERE status = 'OFFLINE' AND last_communication IS NOT NULL) AS silent,
      ARRAY(SELECT name FROM sensors WHERE status = 'OFFLINE' AND last_communication IS NOT NULL
        ORDER BY last_communication DESC LIMIT 5) AS silent_names,
      (SELECT count(*)::int FROM sensors WHERE last_communication IS NULL) AS never_seen,
      (SELECT count(*)::int FROM sensors JOIN sensor_clocks ON sensor_id = id WHERE state IN ('WARNING', 'ERROR'))
        AS wrong_clocks,
      ARRAY(SELECT name || CASE WHEN offset_ms > 0 THEN ' (−' ELSE ' (+' END
          || CASE WHEN abs(offset_ms) < 300000 THEN round(abs(offset_ms) / 1000.0) || ' s)'
            ELSE round(abs(offset_ms) / 60000.0) || ' min)' END
        FROM sensors JOIN sensor_clocks ON sensor_id = id WHERE state IN ('WARNING', 'ERROR')
        ORDER BY abs(offset_ms) DESC LIMIT 5) AS wrong_clock_names,
      (SELECT count(*)::int FROM sensors JOIN sensor_clocks ON sensor_id = id
        WHERE unusable_at > now() - interval '7 days') AS unusable_times,
      ARRAY(SELECT name FROM sensors JOIN sensor_clocks ON sensor_id = id
        WHERE unusable_at > now() - interval '7 days' ORDER BY unusable_at DESC LIMIT 5) AS unusable_time_names`);
  if (!rows[0]) throw new Error('PostgreSQL did not return the state of the work');
  return rows[0];
}

/** Accounts with their second factors and tokens. */
export interface AccountState {
  readonly administrators: number;
  /** Administrators without a second factor, except those of a login provider, which decides on their second factors. */
  readonly without: number;
  /** Names of API tokens in use that expire soon, at most five and, if there are more, an ellipsis. */
  readonly expiring: string[];
}

/** Administrators, second factors and API tokens. @param soonDays within which expiring tokens are named */
export async function readAccountState(db: Executor, soonDays: number): Promise<AccountState> {
  const { rows } = await db.execute<AccountState & Record<string, unknown>>(sql`
    WITH expiring AS (
      SELECT t.name FROM api_tokens t JOIN users u ON u.id = t.user_id
      WHERE u.is_active AND t.revoked_at IS NULL AND t.last_used_at > now() - interval '7 days'
        AND t.expires_at BETWEEN now() AND now() + make_interval(days => ${soonDays})
      ORDER BY t.expires_at LIMIT 6
    )
    SELECT count(*)::int AS administrators,
      count(*) FILTER (WHERE f.user_id IS NULL
        AND NOT EXISTS (SELECT FROM external_identities e WHERE e.user_id = u.id))::int AS without,
      ARRAY(SELECT CASE WHEN row_number() OVER () < 6 THEN name ELSE '…' END FROM expiring) AS expiring
    FROM users u LEFT JOIN second_factors f ON f.user_id = u.id AND f.confirmed_at IS NOT NULL
    WHERE u.role = 'ADMIN' AND u.is_active`);
  if (!rows[0]) throw new Error('PostgreSQL did not return the accounts');
  return rows[0];
}

/** The latest backups. */
export interface BackupState {
  /** Hours since the end of the last complete one; null if there is none. */
  readonly age_hours: number | null;
  /** Why the latest backup that ended with success or failure failed; null if it did not. */
  readonly error: string | null;
}

/**
 * The latest backups that count for a service with this `BACKUP_DIR`, by the clock of the database. Those dated in the
 * future are left out.
 */
export async function readBackupState(db: Executor, backupDir: string | undefined): Promise<BackupState> {
  const { rows } = await db.execute<BackupState & Record<string, unknown>>(sql`
    WITH past AS (SELECT * FROM backups
      WHERE started_at <= now() AND finished_at <= now() AND ${countsFor(backupDir)})
    SELECT (extract(epoch FROM now() - max(finished_at) FILTER (WHERE status = 'COMPLETED')) / 3600)::float8 AS age_hours,
      (SELECT coalesce(error, '') FROM
        (SELECT status, error FROM past WHERE status IN ('COMPLETED', 'FAILED') ORDER BY started_at DESC LIMIT 1) AS last
        WHERE status = 'FAILED') AS error
    FROM past`);
  if (!rows[0]) throw new Error('PostgreSQL did not return the backups');
  return rows[0];
}

/** Messages of devices that were not stored. */
export interface GatewayState {
  /** Messages lost by the connections that lost one within a week, and the number of these connections. */
  readonly lost: number;
  readonly losing: number;
  /** Connections that were refused messages within a day. */
  readonly limited: number;
}

/** Messages of devices that were lost or refused. */
export async function readGatewayState(db: Executor): Promise<GatewayState> {
  const { rows } = await db.execute<GatewayState & Record<string, unknown>>(sql`
    WITH live AS (SELECT * FROM connections WHERE deleted_at IS NULL)
    SELECT
      (SELECT coalesce(sum(lost_messages), 0)::float8 FROM live WHERE lost_at > now() - interval '7 days') AS lost,
      (SELECT count(*)::int FROM live WHERE lost_at > now() - interval '7 days') AS losing,
      (SELECT count(*)::int FROM live WHERE limited_at > now() - interval '1 day') AS limited`);
  if (!rows[0]) throw new Error('PostgreSQL did not return the connections');
  return rows[0];
}

/** The number of enabled alarm rules with a policy. */
export async function countToldRules(db: Executor): Promise<number> {
  const { rows } = await db.execute<{ n: number }>(
    sql`SELECT count(*)::int AS n FROM alarm_rules WHERE enabled AND policy_id IS NOT NULL`,
  );
  return rows[0]?.n ?? 0;
}
