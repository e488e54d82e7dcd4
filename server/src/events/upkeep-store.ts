import type { Pool, PoolClient } from 'pg';
import { locks } from '../platform/database/locks.ts';
import { storesEvents } from '../platform/database/nodes.ts';
import { createDatabase } from '../platform/database/pool.ts';
import { type EventMonth, PARTITIONS, partitionsOf } from './partitions.ts';

/** A partition of events, with the statistics that PostgreSQL keeps about it. */
export interface MonthActivity extends EventMonth {
  /** All events that were ever stored in it. */
  readonly inserted: number;
  readonly rows: number;
  /** Events stored since it was last vacuumed. */
  readonly sinceVacuum: number;
  /** The number of its pages, and of those that a vacuum must still visit (`unvisited`). */
  readonly pages: number;
  readonly unvisited: number;
  /** Events stored, changed or removed since it was last analysed. */
  readonly sinceAnalyze: number;
  /** Whether autovacuum leaves stored events to this service. */
  readonly isOurs: boolean;
  /** Whether events has an index that was added since, which the partition does not have yet. */
  readonly lacksIndex: boolean;
}

interface ActivityRow {
  readonly table: string;
  readonly bounds: string;
  readonly inserted: number;
  readonly live: number;
  readonly since_vacuum: number;
  readonly pages: number;
  readonly visited: number;
  readonly since_analyze: number;
  readonly is_ours: boolean;
  readonly lacks_index: boolean;
}

/**
 * The storage parameters of partitions that this service maintains. Vacuuming after changes and removals, and the
 * protection against wraparound of transaction numbers, are left to autovacuum.
 */
const OURS = ['autovacuum_vacuum_insert_threshold = -1', 'autovacuum_analyze_scale_factor = 100'] as const;

/** The indexes of events that a partition lacks. @param table the SQL for its oid */
function lackingOf(table: string): string {
  return `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
    FROM pg_index AS whole WHERE indrelid = 'events'::regclass AND NOT EXISTS (
      SELECT FROM pg_inherits JOIN pg_index AS part ON part.indexrelid = inhrelid
      WHERE inhparent = whole.indexrelid AND part.indrelid = ${table}
    )`;
}

const ACTIVITY = `
  SELECT partition.table, partition.bounds,
    coalesce(n_tup_ins, 0) AS inserted, greatest(n_live_tup, reltuples::bigint, 0) AS live,
    pg_relation_size(pg_class.oid) / current_setting('block_size')::int AS pages, relallvisible AS visited,
    coalesce(n_ins_since_vacuum, 0) AS since_vacuum, coalesce(n_mod_since_analyze, 0) AS since_analyze,
    coalesce(reloptions @> '{autovacuum_vacuum_insert_threshold=-1}', false) AS is_ours,
    EXISTS (${lackingOf('pg_class.oid')}) AS lacks_index
  FROM (${PARTITIONS}) AS partition
  JOIN pg_class ON pg_class.oid = to_regclass(partition.table)
  LEFT JOIN pg_stat_user_tables ON relid = pg_class.oid`;

/** Maximum wait for the lock of a partition whose parameters are set. */
const LOCK_TIMEOUT = '2s';

/** The pace of VACUUM and ANALYZE: at most 4 MB/s of changed pages, a tenth of autovacuum's. */
const PACE = `SET vacuum_cost_delay = '20ms'; SET vacuum_cost_limit = 200`;

/**
 * The statistics target of ANALYZE without VACUUM, which is mostly due while events are arriving: a quarter of the
 * default, and of the rows sampled. PACE slows the reading of the sample, but not the computation, which takes 0.8 s of
 * processor time for the default. At 5,332 events/s, p50 and p99 during an ANALYZE were 22 to 48 ms and 65 to 123 ms
 * with the default, and 2 to 3 ms and 14 to 22 ms with this.
 */
const SMALL_SAMPLE = `SET default_statistics_target = 25`;

const CHECK_WAITING_MS = 500;

/** What is done with a partition: `index` builds the indexes that it lacks. */
export type Work = 'analyze' | 'vacuum' | 'freeze' | 'index';

const COMMANDS: Readonly<Record<Exclude<Work, 'index'>, string>> = {
  analyze: 'ANALYZE',
  vacuum: 'VACUUM (ANALYZE)',
  freeze: 'VACUUM (FREEZE, ANALYZE)',
};

/**
 * Reads the statistics of the partitions. The result is empty on a cluster, whose nodes have autovacuum's usual
 * settings.
 */
export async function readMonthActivity(pool: Pool): Promise<MonthActivity[]> {
  if (!(await storesEvents(createDatabase(pool)))) return [];
  const { rows } = await pool.query<ActivityRow>(ACTIVITY);
  const byTable = new Map(rows.map((row) => [row.table, row]));
  return partitionsOf(rows).flatMap((month) => {
    const row = byTable.get(month.table);
    if (!row) return [];
    return {
      ...month,
      inserted: row.inserted,
      rows: row.live,
      sinceVacuum: row.since_vacuum,
      pages: row.pages,
      unvisited: Math.max(0, row.pages - row.visited),
      sinceAnalyze: row.since_analyze,
      isOurs: row.is_ours,
      lacksIndex: row.lacks_index,
    };
  });
}

/** Tells autovacuum not to vacuum a partition because of stored events, nor to analyse it early. */
export async function takeOver(client: PoolClient, table: string): Promise<void> {
  await client.query(`SET lock_timeout = '${LOCK_TIMEOUT}'`);
  await client.query(`ALTER TABLE ${table} SET (${OURS.join(', ')})`);
  await client.query('RESET lock_timeout');
}

/**
 * Does the work on a partition, slowly. It is interrupted when another process waits for a lock on the partition, as
 * autovacuum is, or when `isOver` says so.
 * @param pool for the checks while `client` is busy
 * @returns whether it was completed
 */
export async function maintain(
  pool: Pool,
  client: PoolClient,
  table: string,
  work: Work,
  isOver: () => boolean,
): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const pid = rows[0]?.pid;
  let interrupted = false;
  const check = async (): Promise<void> => {
    const { rows: waiting } = await pool.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND $1 = ANY (pg_blocking_pids(pid))`,
      [pid],
    );
    if (interrupted || (waiting.length === 0 && !isOver())) return;
    interrupted = true;
    await pool.query('SELECT pg_cancel_backend($1)', [pid]);
  };
  const timer = setInterval(() => void check().catch(() => undefined), CHECK_WAITING_MS);
  try {
    await client.query(PACE);
    if (work === 'analyze') await client.query(SMALL_SAMPLE);
    if (work === 'index') await buildIndexes(client, table);
    else await client.query(`${COMMANDS[work]} ${table}`);
    return true;
  } catch (error) {
    if (interrupted) return false;
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/** Builds the indexes that a partition lacks, while events are stored in it. What an interrupted attempt left is removed. */
async function buildIndexes(client: PoolClient, table: string): Promise<void> {
  const { rows } = await client.query<{ name: string; definition: string; oid: number }>(
    `SELECT name, definition, $1::regclass::oid AS oid FROM (${lackingOf('$1::regclass')}) AS lacking`,
    [table],
  );
  for (const { name, definition, oid } of rows) {
    const own = `${name}_${oid}`;
    const columns = definition.slice(definition.indexOf(' USING '));
    await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${own}`);
    await client.query(`CREATE INDEX CONCURRENTLY ${own} ON ${table}${columns}`);
    await client.query(`SET lock_timeout = '${LOCK_TIMEOUT}'`);
    await client.query(`ALTER INDEX ${name} ATTACH PARTITION ${own}`);
    await client.query('RESET lock_timeout');
  }
}

/** Runs the work unless another process is doing so. @returns null if another process is */
export async function alone<Result>(client: PoolClient, work: () => Promise<Result>): Promise<Result | null> {
  const { rows } = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_lock($1) AS mine', [
    locks.upkeep,
  ]);
  if (!rows[0]?.mine) return null;
  try {
    return await work();
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [locks.upkeep]);
  }
}
