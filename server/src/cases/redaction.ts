import type { Executor } from '../platform/database/transaction.ts';
import { casesWithImage, type ItemRow, isImage, listItems } from './items-store.ts';

// Redacted copies of images: which one is shown, and to whom.

/** The latest copy of each image of a case, by the id of the item of the original. */
export function latestCopies(items: readonly ItemRow[]): ReadonlyMap<string, ItemRow> {
  const superseded = new Set(items.flatMap(({ derivedFrom }) => derivedFrom ?? []));
  const originals = new Set(
    items.filter((item) => isImage(item) && item.derivedFrom === null).map(({ sha256 }) => sha256),
  );
  const byId = new Map(items.map((item) => [item.id, item]));
  const latest = new Map<string, ItemRow>();
  for (const item of items) {
    if (!isImage(item) || item.derivedFrom === null || superseded.has(item.id)) continue;
    // Bytes that are also those of an original hide nothing.
    if (!originals.has(item.sha256)) latest.set(originalOf(item, byId).id, item);
  }
  return latest;
}

function originalOf(item: ItemRow, byId: ReadonlyMap<string, ItemRow>): ItemRow {
  const above = item.derivedFrom === null ? undefined : byId.get(item.derivedFrom);
  return above === undefined ? item : originalOf(above, byId);
}

/** What a redacted package shows: instead of each image its latest copy, and nothing of an image without one. */
export function redactedItems(items: readonly ItemRow[]): ItemRow[] {
  const copies = new Set(latestCopies(items).values());
  return items.filter((item) => !isImage(item) || copies.has(item));
}

/**
 * The hash of the copy that is shown instead of an image to those who do not verify cases: the latest one of the cases that
 * have it. It is that of the image itself if that is the latest copy of an image of an event.
 * @returns null if no case has a copy
 */
export async function findShownCopy(db: Executor, sha256: string): Promise<string | null> {
  let shown: ItemRow | null = null;
  for (const caseId of await casesWithImage(db, sha256)) {
    const items = await listItems(db, caseId);
    const byId = new Map(items.map((item) => [item.id, item]));
    const latest = latestCopies(items);
    for (const item of items.filter((each) => each.sha256 === sha256)) {
      const original = originalOf(item, byId);
      const copy = latest.get(original.id);
      if (copy && original.eventId !== null && (shown === null || copy.addedAt > shown.addedAt)) shown = copy;
    }
  }
  return shown?.sha256 ?? null;
}
