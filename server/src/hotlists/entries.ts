import {
  type AddHotlistEntryInput,
  type FindHotlistEntriesInput,
  type FoundHotlistEntry,
  type HotlistEntry,
  type ListHotlistEntriesInput,
  MAX_HOTLIST_ALIKE,
  MAX_HOTLIST_PATTERNS,
  type SavedHotlistEntry,
  type UpdateHotlistEntryInput,
} from '@gantry/contract/hotlists';
import type { Page } from '@gantry/contract/page';
import { isPlainDate } from '@gantry/contract/time';
import { EARLIEST_EVENT } from '@gantry/contract/time-bounds';
import { type ActivityAction, recordActivity } from '../activity/store.ts';
import { requirePlateSearch, requireSeesPlates } from '../events/plate-access.ts';
import { recordPlateLookUp } from '../events/service.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { resolveInterval, resolveTime } from '../platform/time.ts';
import {
  type Changed,
  countAlike,
  countPatterns,
  type EntryContent,
  endEntries,
  findEntriesOfPlate,
  findOthersOf,
  finishVersion,
  getEntry,
  insertEntries,
  type KeyedEntry,
  keyed,
  listEntries,
} from './entries-store.ts';
import { requireRoom } from './room.ts';
import type { HotlistContext } from './service.ts';
import { findList, type ListRow, lockIdleList, warningsOf } from './store.ts';

/**
 * One page of the entries in force, with the version of the list. A search for a plate is recorded.
 * @throws AppError `notFound`; as `requirePlateSearch`
 */
export async function lookUpEntries(
  ctx: HotlistContext,
  { hotlistId, plate, skip, take, ...why }: ListHotlistEntriesInput,
): Promise<Page<HotlistEntry> & { version: number }> {
  requirePlateSearch(ctx, { licensePlateNumber: plate, ...why });
  const { db } = ctx.app;
  const { id, version } = await findList(db, ctx.actor, hotlistId);
  const page = await listEntries(db, { id, plate, skip, take });
  if (plate !== undefined) await recordPlateLookUp(ctx, plate, why, page.total);
  return { ...page, version };
}

/**
 * One page of the entries in force for a plate, in all lists that the user sees. The search is recorded.
 * @throws AppError as `requirePlateSearch`
 */
export async function findEntries(
  ctx: HotlistContext,
  { plate, skip, take, ...why }: FindHotlistEntriesInput,
): Promise<Page<FoundHotlistEntry>> {
  requirePlateSearch(ctx, { licensePlateNumber: plate, ...why });
  const found = await findEntriesOfPlate(ctx.app.db, ctx.actor, { plate, skip, take });
  await recordPlateLookUp(ctx, plate, why, found.total);
  return found;
}

/**
 * Adds an entry, which makes a new version of the list.
 * @throws AppError `notFound`; `badRequest` when it would end before it begins, or there are too many; `conflict` when the list
 * has an entry for the plate, region and reference; `forbidden` for users who see no plates
 */
export function addEntry(
  ctx: HotlistContext,
  { hotlistId, ...input }: AddHotlistEntryInput,
): Promise<SavedHotlistEntry> {
  requireSeesPlates(ctx);
  const content = contentOf(ctx, input);
  return changeEntries(ctx, hotlistId, 'hotlists.addEntry', async (tx, list, version) => {
    const entry = keyed(list.id, content);
    await requireNone(tx, list.id, entry);
    return { entry, inserted: await insertEntries(tx, list.id, version, [entry]), ended: 0 };
  });
}

/**
 * Changes an entry, which makes a new version of the list. With another plate, region or reference it gets another id.
 * @throws AppError as `addEntry`
 */
export function updateEntry(
  ctx: HotlistContext,
  { id, hotlistId, ...changes }: UpdateHotlistEntryInput,
): Promise<SavedHotlistEntry> {
  requireSeesPlates(ctx);
  return changeEntries(ctx, hotlistId, 'hotlists.updateEntry', async (tx, list, version) => {
    const before = await getEntry(tx, list.id, id);
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const known = { ...before, validFrom: isoOf(before.validFrom), validUntil: isoOf(before.validUntil) };
    const entry = keyed(list.id, contentOf(ctx, { ...known, ...given }));
    if (entry.id !== before.id) await requireNone(tx, list.id, entry);
    const ended = await endEntries(tx, list.id, version, [before.id]);
    return { entry, inserted: await insertEntries(tx, list.id, version, [entry]), ended };
  });
}

/** Ends an entry, which makes a new version of the list. Its hits stay. @throws AppError `notFound` */
export async function endEntry(
  ctx: HotlistContext,
  { id, hotlistId }: { readonly id: string; readonly hotlistId: string },
): Promise<{ success: true; id: string; version: number }> {
  const { app, actor, caller } = ctx;
  const done = await inTransaction(app.db, async (tx) => {
    const list = await lockIdleList(tx, actor, hotlistId);
    const { id: entryId, plate, reason } = await getEntry(tx, list.id, id);
    const version = list.version + 1;
    const ended = await endEntries(tx, list.id, version, [entryId]);
    await finishVersion(tx, list, version, { inserted: 0, ended }, app.timings.hotlistChangeMs);
    const details = { hotlistId: list.id, name: list.name, entryId, plate, reason, version };
    await recordActivity(tx, actor.id, caller, 'hotlists.endEntry', details);
    return { success: true as const, id: entryId, version };
  });
  await app.hotlists.refresh();
  return done;
}

async function changeEntries(
  { app, actor, caller }: HotlistContext,
  hotlistId: string,
  action: ActivityAction,
  change: (
    tx: Transaction,
    list: ListRow,
    version: number,
  ) => Promise<Changed & { readonly entry: KeyedEntry }>,
): Promise<SavedHotlistEntry> {
  const changed = await inTransaction(app.db, async (tx) => {
    const list = await lockIdleList(tx, actor, hotlistId);
    const version = list.version + 1;
    const { entry, ...counts } = await change(tx, list, version);
    await requireRoom(tx, list, counts);
    if (entry.plateKey.includes('*') && (await countPatterns(tx)) > MAX_HOTLIST_PATTERNS) {
      throw invalidInput(
        'plate',
        `There are ${MAX_HOTLIST_PATTERNS} patterns with * already: list whole plates`,
      );
    }
    await finishVersion(tx, list, version, counts, app.timings.hotlistChangeMs);
    if ((await countAlike(tx, list.id, entry)) > MAX_HOTLIST_ALIKE) {
      throw invalidInput(
        'plate',
        `The list has ${MAX_HOTLIST_ALIKE} entries for plates such as this already: end those that no longer apply`,
      );
    }
    const { id: entryId, plate, reason } = entry;
    const details = { hotlistId: list.id, name: list.name, entryId, plate, reason, version };
    await recordActivity(tx, actor.id, caller, action, details);
    const warnings = await warningsOf(tx, actor, await findOthersOf(tx, list.id, entry));
    return { ...(await getEntry(tx, list.id, entryId)), warnings };
  });
  await app.hotlists.refresh();
  return changed;
}

async function requireNone(tx: Transaction, hotlistId: string, { id }: KeyedEntry): Promise<void> {
  const found = await getEntry(tx, hotlistId, id).catch((error: unknown) => {
    if (error instanceof AppError && error.kind === 'notFound') return null;
    throw error;
  });
  if (!found) return;
  throw new AppError(
    'conflict',
    'The list has an entry for this plate, region and reference: change that one, or give another reference',
  );
}

// No event is later than this, or earlier than EARLIEST_EVENT, so bounds beyond these times need not be stored.
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

type Given = Omit<AddHotlistEntryInput, 'hotlistId'>;

/** @throws AppError `badRequest` when it would end before it begins */
function contentOf({ app }: HotlistContext, input: Given): EntryContent {
  const { timezone } = app.settings.current();
  const from = input.validFrom ? resolveTime(input.validFrom, timezone) : null;
  const until = input.validUntil ? lastOf(input.validUntil, timezone) : null;
  if (from !== null && until !== null && until < from) {
    throw invalidInput('validUntil', 'validUntil is before validFrom: give a later time, or null for no end');
  }
  return {
    plate: input.plate,
    region: input.region ?? null,
    reason: input.reason,
    reference: input.reference,
    validFrom: storedTime(from),
    validUntil: storedTime(until),
    approvedBy: input.approvedBy,
    reviewOn: input.reviewOn ?? null,
    extra: input.extra ?? null,
  };
}

function lastOf(end: string, zone: string): number {
  return isPlainDate(end) ? resolveInterval({ endDate: end }, zone).until - 1 : resolveTime(end, zone);
}

function storedTime(time: number | null): string | null {
  return time === null ? null : new Date(Math.min(Math.max(time, EARLIEST_EVENT), LATEST)).toISOString();
}

function isoOf(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}
