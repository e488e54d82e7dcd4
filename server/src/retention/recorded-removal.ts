import type { Logger } from 'pino';
import { lockOutHolds } from '../events/holds-store.ts';
import type { BlobStore } from '../images/blobs.ts';
import type { Database } from '../platform/database/pool.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { type Removal, recordRemovals } from './runs-store.ts';

/** What a run of retention works with. */
export interface RunParts {
  readonly db: Database;
  readonly log: Logger;
  readonly blobs: BlobStore;
}

/** A run of retention under way. */
export interface Run extends RunParts {
  readonly id: string;
  /** Who began it by hand, having seen what it will remove; null: the daily run. */
  readonly startedBy: string | null;
  /** Whether to stop after the batch under way. */
  readonly stopped: () => boolean;
}

/**
 * Removes something in one transaction, in which it is written down too and nothing comes under a legal hold.
 * @throws RunLost when another process has taken over
 */
export function removeRecorded(
  run: Run,
  work: (tx: Transaction) => Promise<readonly Removal[]>,
): Promise<readonly Removal[]> {
  return inTransaction(run.db, async (tx) => {
    await lockOutHolds(tx);
    const removals = await work(tx);
    await recordRemovals(tx, run.id, removals);
    return removals;
  });
}
