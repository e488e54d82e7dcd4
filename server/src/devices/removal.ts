import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import type { Database } from '../platform/database/pool.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import {
  listDeletedConnections,
  removeConnection,
  removeMessagesOf,
  removeOldDiscoveries,
  removeOldMessages,
  removeOldPassages,
  removeOldReferences,
  removeOldReports,
} from './removal-store.ts';

/** Maximum number of rows that one statement removes, in a few tenths of a second, while messages are stored. */
const AT_ONCE = 2_000;
const CONNECTIONS_AT_ONCE = 100;

/** A message may be stored this long after its references to images, in milliseconds. */
const MARGIN_MS = HOUR_MS;

/**
 * Removes what devices sent more than `days` ago, and the leftovers of deleted connections, in batches.
 * @param now Unix milliseconds
 */
export async function removeOldDeviceData(
  db: Database,
  { now, days, isOver }: { readonly now: number; readonly days: number; readonly isOver: () => boolean },
): Promise<void> {
  const before = now - days * DAY_MS;
  const all = async (remove: (most: number) => Promise<number>): Promise<void> => {
    while (!isOver() && (await remove(AT_ONCE)) === AT_ONCE);
  };
  await all((most) => removeOldMessages(db, before, most));
  await all((most) => removeOldReferences(db, Math.min(before, now - MARGIN_MS), most));
  await all((most) => removeOldReports(db, before, most));
  await all((most) => removeOldPassages(db, before, most));
  await all((most) => removeOldDiscoveries(db, before, most));
  for (const id of await listDeletedConnections(db, CONNECTIONS_AT_ONCE)) {
    await all((most) => removeMessagesOf(db, id, most));
    if (!isOver()) await inTransaction(db, (tx) => removeConnection(tx, id));
  }
}
