import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { type AppError, unavailable } from '../error.ts';
import type { Database } from './pool.ts';
import type { Executor } from './transaction.ts';

/** The servers of a Citus cluster, if `events` is distributed over several; otherwise there is only the one. */
export interface Nodes {
  /** Whether rows that OFFSET skips are sent from one server to another, so that skipping many takes long. */
  sendsSkippedRows(): Promise<boolean>;
  /** The addresses of nodes that do not answer; empty for one server. */
  listAbsent(): Promise<readonly string[]>;
  /**
   * Repeats a read of rows that were announced as committed while there may be a node that does not show them yet.
   * @param isComplete whether everything was found; what is still missing in the end was deleted
   * @throws AppError `unavailable` when a node does not answer, or has not committed within three minutes
   */
  readCommitted<Found>(read: () => Promise<Found>, isComplete: (found: Found) => boolean): Promise<Found>;
}

/** A connection, a pool or a transaction on which a statement can be run. */
export type Queryable = Pick<Database, 'execute'>;

/** Pauses between two reads, in milliseconds: a node usually commits within one of the first. */
const INITIAL_PAUSE_MS = 5;
const MAX_PAUSE_MS = 1_000;

/** Citus finishes the commits that a crash interrupted once a minute. */
const PATIENCE_MS = 180_000;

/** @param health the connection for the state of nodes, on which a statement may wait for one that does not answer */
export function followNodes(db: Database, health: Database): Nodes {
  let distributed: Promise<boolean> | null = null;
  let asking: Promise<readonly string[]> | null = null;

  const isDistributed = (): Promise<boolean> => {
    distributed ??= areEventsDistributed(health).catch((error: unknown) => {
      distributed = null;
      throw error;
    });
    return distributed;
  };

  return {
    sendsSkippedRows: isDistributed,
    async listAbsent() {
      if (!(await isDistributed())) return [];
      // Concurrent callers share one query: anybody may ask for the health of the service, and each query opens a
      // connection to each node.
      asking ??= listAbsentNodes(health).finally(() => {
        asking = null;
      });
      return asking;
    },
    readCommitted: async (read, isComplete) => {
      const first = await read();
      if (isComplete(first) || !(await isDistributed())) return first;
      return repeatRead(read, isComplete, () => listUnfinishedCommits(db));
    },
  };
}

/**
 * Repeats a read with growing pauses until everything is found, or until all commits that were unfinished at the
 * beginning have finished. Citus announces a transaction when its coordinator commits, and its nodes commit afterwards.
 * @param listUnfinished the names of the transactions that are prepared on any node
 * @throws AppError `unavailable` when they have not finished within three minutes
 */
export async function repeatRead<Found>(
  read: () => Promise<Found>,
  isComplete: (found: Found) => boolean,
  listUnfinished: () => Promise<ReadonlySet<string>>,
): Promise<Found> {
  const deadline = performance.now() + PATIENCE_MS;
  let awaited: ReadonlySet<string> | null = null;
  for (let pause = INITIAL_PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    const unfinished = await listUnfinished();
    awaited ??= unfinished;
    // After the list was read, so that the results of commits that are no longer on it are seen.
    const found = await read();
    if (isComplete(found) || !sharesAny(awaited, unfinished)) return found;
    if (performance.now() > deadline)
      throw unavailable('Nodes of the database cluster have not committed all events that were stored');
    await sleep(pause);
  }
}

function sharesAny(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  for (const each of some) if (others.has(each)) return true;
  return false;
}

/** The size of the database on all nodes, in bytes. @throws Error when a node does not answer */
export async function readDatabaseBytes(db: Executor): Promise<number> {
  if (!(await areEventsDistributed(db))) {
    const { rows } = await db.execute<{ bytes: number }>(
      sql`SELECT pg_database_size(current_database()) AS bytes`,
    );
    return rows[0]?.bytes ?? 0;
  }
  const sizes = await askAllNodes(db, 'SELECT pg_database_size(current_database())');
  return sizes.reduce((sum, size) => sum + Number(size), 0);
}

/**
 * The size of each table with its indexes on all nodes, in bytes; null where it is unknown.
 * @param tables names, quoted for SQL
 */
export async function readTableBytes(
  db: Executor,
  tables: readonly string[],
): Promise<ReadonlyMap<string, number | null>> {
  // On a cluster the partitions lie on other nodes, so its own function is used.
  const size = (await areEventsDistributed(db))
    ? sql`citus_total_relation_size(to_regclass(name), false)`
    : sql`pg_total_relation_size(to_regclass(name))`;
  const { rows } = await db.execute<{ name: string; bytes: number | null }>(
    sql`SELECT name, ${size} AS bytes FROM unnest(${sql.param(tables)}::text[]) AS name`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, bytes]));
}

/** Whether events are on several nodes. The extension alone does not distribute them. */
export async function areEventsDistributed(db: Queryable): Promise<boolean> {
  const { rows: found } = await db.execute<{ present: boolean }>(
    sql`SELECT to_regclass('pg_dist_partition') IS NOT NULL AS present`,
  );
  if (!found[0]?.present) return false;
  const { rows } = await db.execute<{ distributed: boolean }>(sql`
    SELECT EXISTS (SELECT FROM pg_dist_partition
      WHERE logicalrelid = to_regclass('events') AND partmethod = 'h') AS distributed`);
  return rows[0]?.distributed ?? false;
}

/** The transactions that are prepared on any node and neither committed nor rolled back. */
export async function listUnfinishedCommits(db: Queryable): Promise<ReadonlySet<string>> {
  const names = await askAllNodes(
    db,
    `SELECT coalesce(string_agg(gid, ','), '') FROM pg_prepared_xacts
      WHERE database = current_database() AND starts_with(gid, 'citus_')`,
  );
  return new Set(names.flatMap((list) => (list === '' ? [] : list.split(','))));
}

interface NodeAnswer extends Record<string, unknown> {
  /** Host and port. */
  readonly node: string;
  /** Null when the node does not answer. */
  readonly answer: string | null;
}

async function askNodes(db: Queryable, question: string): Promise<NodeAnswer[]> {
  const { rows } = await db.execute<NodeAnswer>(sql`
    SELECT coalesce(nodename || ':' || nodeport, 'coordinator') AS node, CASE WHEN success THEN result END AS answer
    FROM run_command_on_all_nodes(${question}) LEFT JOIN pg_dist_node USING (nodeid) ORDER BY 1`);
  return rows;
}

/** The addresses of the nodes of a cluster that do not answer. */
export async function listAbsentNodes(db: Queryable): Promise<readonly string[]> {
  return (await askNodes(db, 'SELECT 1')).filter(({ answer }) => answer === null).map(({ node }) => node);
}

async function askAllNodes(db: Queryable, question: string): Promise<string[]> {
  return (await askNodes(db, question)).map(({ node, answer }) => {
    if (answer === null) throw nodeAway(node);
    return answer;
  });
}

/** The error for a node that does not answer. */
export function nodeAway(node: string): AppError {
  return unavailable(`The node ${node} of the database cluster does not answer: try again in a moment`);
}
