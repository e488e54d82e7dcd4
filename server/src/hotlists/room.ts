import { MAX_HOTLIST_ENTRIES, MAX_ONE_OFF_ENTRIES } from '@gantry/contract/hotlists';
import type { Executor } from '../platform/database/transaction.ts';
import { AppError } from '../platform/error.ts';
import type { Changed } from './entries-store.ts';
import { countLists, type ListRow } from './store.ts';

/**
 * Checks the number of entries that a new version would have.
 * @throws AppError `badRequest` when the list, or all lists together, would have too many
 */
export async function requireRoom(db: Executor, list: ListRow, { inserted, ended }: Changed): Promise<void> {
  const more = inserted - ended;
  if (list.tolerance === 'ONE_OFF') requireFewForOneOff(list.entryCount + more);
  if (more <= 0) return;
  const { entries } = await countLists(db);
  if (entries + more <= MAX_HOTLIST_ENTRIES) return;
  throw new AppError(
    'badRequest',
    `All hotlists together have at most ${MAX_HOTLIST_ENTRIES} entries, and would have ${entries + more}`,
  );
}

/** @throws AppError `badRequest` when a list that tolerates one wrong character would have too many entries */
export function requireFewForOneOff(entries: number): void {
  if (entries <= MAX_ONE_OFF_ENTRIES) return;
  throw new AppError(
    'badRequest',
    `A list with the tolerance ONE_OFF has at most ${MAX_ONE_OFF_ENTRIES} entries, and this would have ${entries}: choose CONFUSABLE`,
  );
}
