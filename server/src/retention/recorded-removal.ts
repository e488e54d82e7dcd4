import type { Logger } from 'pino';
import { lockOutHolds } from '../events/holds-store.ts';
import type { BlobStore } from '../images/blobs.ts';
import type { Database } from '../platform/database/pool.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { type Removal, recordRemovals } from './runs-store.ts';

/** The services that a run of retention needs. */
export interface RunParts {
  readonly db: Database;
  readonly log: Logger;
  readonly blobs: BlobStore;
}

/** A run of retention in progress. */
export interface Run extends RunParts {
  readonly id: string;
  /** The user who started it after a preview; null for the daily run. */
  readonly startedBy: string | null;
  /** Whether to stop after the current batch. */
  readonly stopped: () => boolean;
}

/**
 * Removes records in one transaction that also writes the record of the removal and excludes new legal holds.
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
