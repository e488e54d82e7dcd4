import type { MergeIncidentsInput } from '@gantry/contract/incident-work';
import type { Incident } from '@gantry/contract/incidents';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { invalidInput } from '../platform/error.ts';
import { changeIncident, type IncidentContext, requireAllowed } from './change.ts';
import { moveAll } from './merge-store.ts';
import { lockIncident } from './store.ts';
import { settleWork } from './work.ts';
import { findLinks, isConsequence, lockIncidents, lockLinks, readWork, saveWork } from './work-store.ts';

/**
 * Merges an incident into another one that is about the same: its events, notes, images and agencies move there. It is
 * closed, keeps the rest of its timeline, and points to the other one.
 * @returns the other incident
 * @throws AppError `notFound` for the incident; `badRequest` when the other one is itself or does not exist;
 * `forbidden` or `conflict` when one of them must not be changed, for example because it was merged already
 */
export function mergeIncidents(ctx: IncidentContext, { id, into }: MergeIncidentsInput): Promise<Incident> {
  const target = into.toLowerCase();
  if (target === id.toLowerCase())
    throw invalidInput('into', 'An incident cannot be merged into itself: give the id of another one');
  return inTransaction(ctx.app.db, async (tx) => {
    await lockIncidents(tx, [id, target]);
    const merged = await lockIncident(tx, id);
    if (!(await findLinks(tx, [target])).has(target))
      throw invalidInput('into', 'No incident has this id: use the id of an existing one');
    const kept = await lockIncident(tx, target);
    await requireAllowed(ctx, tx, merged, 'merge');
    await requireAllowed(ctx, tx, kept, 'takeOver');
    await lockLinks(tx);
    const [workOfMerged, workOfKept] = [await readWork(tx, merged), await readWork(tx, kept)];
    const secondaryOf = await causeAfter(
      tx,
      { id: merged.id, ...workOfMerged },
      { id: kept.id, ...workOfKept },
    );
    const moved = await moveAll(tx, merged.id, kept.id);
    await saveWork(tx, kept.id, await settleWork(tx, kept.id, { ...workOfKept, secondaryOf }));
    const details = (other: { id: string; title: string }) => ({
      id: other.id,
      title: other.title,
      ...moved,
    });
    await changeIncident(
      ctx,
      tx,
      merged.id,
      { action: 'merge' },
      { describe: () => ({ mergedInto: details(kept) }) },
    );
    await saveWork(tx, merged.id, await settleWork(tx, merged.id, { ...workOfMerged, mergedInto: kept.id }));
    return changeIncident(
      ctx,
      tx,
      kept.id,
      { action: 'takeOver' },
      { describe: () => ({ merged: details(merged) }) },
    );
  });
}

interface Linked {
  readonly id: string;
  readonly secondaryOf: string | null;
}

/** The incident of which the kept one is a consequence after the merge, so that none is one of itself. */
async function causeAfter(tx: Transaction, merged: Linked, kept: Linked): Promise<string | null> {
  if (await isConsequence(tx, kept.id, merged.id)) return merged.secondaryOf;
  const { secondaryOf: cause } = merged;
  if (kept.secondaryOf !== null || cause === null) return kept.secondaryOf;
  return (await isConsequence(tx, cause, kept.id)) ? null : cause;
}
