import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { lockOutHolds } from '../../events/holds-store.ts';
import type { BlobStore } from '../../images/blobs.ts';
import type { Database } from '../../platform/database/pool.ts';
import { inTransaction, type Transaction } from '../../platform/database/transaction.ts';
import { type Removal, recordRemovals, tryToExcludeBackups } from './runs-store.ts';

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

/** Pause between two checks whether a backup is still in progress, in milliseconds. */
const BACKUP_PAUSE_MS = 1_000;

/** Records that the run is alive. @throws RunLost when another process has taken over */
export function showLife(run: Run): Promise<void> {
  return recordRemovals(run.db, run.id, []);
}

/**
 * Removes records in one transaction that also writes the record of the removal and excludes new legal holds. While a
 * backup is in progress, it waits: the backup still needs the partitions and pictures that its snapshot shows.
 * @throws RunLost when another process has taken over
 */
export async function removeRecorded(
  run: Run,
  work: (tx: Transaction) => Promise<readonly Removal[]>,
): Promise<readonly Removal[]> {
  for (;;) {
    const removals = await inTransaction(run.db, async (tx) => {
      if (!(await tryToExcludeBackups(tx))) {
        await recordRemovals(tx, run.id, []);
        return null;
      }
      await lockOutHolds(tx);
      const removed = await work(tx);
      await recordRemovals(tx, run.id, removed);
      return removed;
    });
    if (removals !== null) return removals;
    if (run.stopped()) return [];
    await sleep(BACKUP_PAUSE_MS);
  }
}
