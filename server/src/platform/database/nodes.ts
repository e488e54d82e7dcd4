import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { type AppError, unavailable } from '../error.ts';
import { sqlState } from './failure.ts';
import type { Database } from './pool.ts';
import { BEGIN_SNAPSHOT, type Executor, inTransaction, over, transact } from './transaction.ts';

// What differs when `events` is distributed over the nodes of a Citus cluster. All functions here may be called on any
// database: with one server, they do what one server needs, which is often nothing. Only this file asks which it is.

/** The servers on which the database is: the nodes of a cluster, or only one. */
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
      asking ??= absentNodes(health).finally(() => {
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

/** The function of SQL for the size of a partition of events without its indexes, on whichever node it is. */
export async function sizeFunctionOf(db: Queryable): Promise<'citus_table_size' | 'pg_table_size'> {
  return (await areEventsDistributed(db)) ? 'citus_table_size' : 'pg_table_size';
}

/** Whether this server itself stores the events, so that their partitions can be maintained here. */
export async function storesEvents(db: Queryable): Promise<boolean> {
  return !(await areEventsDistributed(db));
}

/** Why tables cannot be filled from a copy of another database, as a sentence that says what to do; null if they can. */
export async function reasonNotToFill(db: Queryable): Promise<string | null> {
  return (await areEventsDistributed(db))
    ? 'The events of this database are distributed over a cluster: use an empty database on the coordinator (set DATABASE_URL), and run gantry db distribute on it afterwards'
    : null;
}

/** Whether events are on several nodes. The extension alone does not distribute them. */
async function areEventsDistributed(db: Queryable): Promise<boolean> {
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
async function listUnfinishedCommits(db: Queryable): Promise<ReadonlySet<string>> {
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

/** The addresses of nodes that do not answer; none for one server. */
export async function listAbsentNodes(db: Queryable): Promise<readonly string[]> {
  return (await areEventsDistributed(db)) ? absentNodes(db) : [];
}

async function absentNodes(db: Queryable): Promise<readonly string[]> {
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

// The nodes of a cluster have no common snapshot. They show the same moment if each takes its own while no event
// is being stored.

/** Maximum wait for groups of events that are being stored. Further groups wait behind it. */
const LOCK_TIMEOUT = '5s';

/**
 * Prevents events of a cluster from being stored, changed or removed until the transaction ends, because its statements
 * see each node at another moment. When it returns, all nodes have committed the events that were announced before.
 * @throws AppError `unavailable` when a node does not answer or has not committed, or a change takes too long
 */
export async function pauseEvents(tx: Queryable): Promise<void> {
  if (await areEventsDistributed(tx)) await pauseNodes(tx);
}

async function pauseNodes(tx: Queryable): Promise<void> {
  const [absent] = await absentNodes(tx);
  if (absent !== undefined) throw nodeAway(absent);
  await tx.execute(sql.raw(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`));
  try {
    await tx.execute(sql`LOCK TABLE events IN SHARE MODE`);
  } catch (error) {
    if (sqlState(error) !== '55P03') throw error;
    throw unavailable('Events are being changed, which takes long: try again in a minute', error);
  }
  await tx.execute(sql`SET LOCAL lock_timeout = 0`);
  if ((await listUnfinishedCommits(tx)).size > 0) {
    throw unavailable(
      'Nodes of the database cluster have not finished commits that were interrupted: try again in a minute',
    );
  }
}

/** Takes the snapshot of a REPEATABLE READ transaction on every node, while another transaction pauses events. */
async function takeSnapshotOfNodes(tx: Queryable): Promise<void> {
  // Each connection to a node has a snapshot of its own, so there must be only one connection to each node, including one
  // for shards on the coordinator.
  await tx.execute(sql`SET LOCAL citus.max_adaptive_executor_pool_size = 1`);
  await tx.execute(sql`SET LOCAL citus.enable_local_execution = off`);
  await tx.execute(sql`SELECT FROM events LIMIT 1`);
}

/**
 * Begins a transaction on a connection whose statements all see the database as it is now. On a cluster, storing of events
 * pauses for some milliseconds, until every node has its snapshot.
 * @param openOther opens another connection, which is closed again
 * @throws AppError as `pauseEvents` does
 */
export async function beginCommonSnapshot(
  db: Queryable,
  openOther: () => Promise<AsyncDisposable & { readonly db: Queryable }>,
): Promise<void> {
  const begin = (): Promise<unknown> => db.execute(sql.raw(BEGIN_SNAPSHOT));
  if (!(await areEventsDistributed(db))) return void (await begin());
  // Closing the connection ends the pause.
  await using other = await openOther();
  await other.db.execute(sql`BEGIN`);
  await pauseNodes(other.db);
  await begin();
  await takeSnapshotOfNodes(db);
}

/**
 * Runs `work`, each statement of which sees all nodes as of one moment. One server does so by itself; on a cluster, `work`
 * gets a snapshot, and storing of events pauses for some milliseconds at the beginning.
 * @param db a pool with two free connections
 * @throws AppError as `pauseEvents` does
 */
export async function inCommonSnapshot<Result>(
  db: Database,
  work: (db: Executor) => Promise<Result>,
): Promise<Result> {
  if (!(await areEventsDistributed(db))) return work(db);
  return transact(
    db.$client,
    async (client) => {
      const tx = over(client);
      await inTransaction(db, async (pause) => {
        await pauseNodes(pause);
        await takeSnapshotOfNodes(tx);
      });
      return work(tx);
    },
    BEGIN_SNAPSHOT,
  );
}
