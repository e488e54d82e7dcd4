import { sql } from 'drizzle-orm';
import { unavailable } from '../error.ts';
import { sqlState } from './failure.ts';
import { listAbsentNodes, listUnfinishedCommits, nodeAway, type Queryable } from './nodes.ts';
import type { Database } from './pool.ts';
import { BEGIN_SNAPSHOT, type Executor, inTransaction, over, transact } from './transaction.ts';

// The nodes of a Citus cluster have no common snapshot. They show the same moment if each takes its own while no event
// is being stored.

/** Maximum wait for groups of events that are being stored. Further groups wait behind it. */
const LOCK_TIMEOUT = '5s';

/**
 * Prevents events of a cluster from being stored, changed or removed until the transaction ends. When it returns, all
 * nodes have committed the events that were announced before.
 * @throws AppError `unavailable` when a node does not answer or has not committed, or a change takes too long
 */
export async function pauseEvents(tx: Queryable): Promise<void> {
  const [absent] = await listAbsentNodes(tx);
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

/**
 * Takes the snapshot of a REPEATABLE READ transaction on the coordinator and on every node, while another transaction
 * pauses events.
 */
export async function takeSnapshotOfNodes(tx: Queryable): Promise<void> {
  // Each connection to a node has a snapshot of its own, so there must be only one connection to each node, including one
  // for shards on the coordinator.
  await tx.execute(sql`SET LOCAL citus.max_adaptive_executor_pool_size = 1`);
  await tx.execute(sql`SET LOCAL citus.enable_local_execution = off`);
  await tx.execute(sql`SELECT FROM events LIMIT 1`);
}

/**
 * Runs `work` in a snapshot of all nodes of a cluster. Storing of events pauses for some milliseconds at the beginning.
 * @param db a pool with two free connections
 * @throws AppError as `pauseEvents` does
 */
export function inSnapshotOfNodes<Result>(
  db: Database,
  work: (db: Executor) => Promise<Result>,
): Promise<Result> {
  return transact(
    db.$client,
    async (client) => {
      const tx = over(client);
      await inTransaction(db, async (pause) => {
        await pauseEvents(pause);
        await takeSnapshotOfNodes(tx);
      });
      return work(tx);
    },
    BEGIN_SNAPSHOT,
  );
}
