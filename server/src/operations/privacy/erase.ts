import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import { callerOf, systemUser } from '../../accounts/by-command.ts';
import { NOBODY, recordActivity } from '../../activity/store.ts';
import { findHeld, lockOutHolds } from '../../events/holds-store.ts';
import { removeReleased } from '../../images/orphans-store.ts';
import type { Database } from '../../platform/database/pool.ts';
import { inTransaction, type Transaction } from '../../platform/database/transaction.ts';
import { tryToExcludeBackups } from '../retention/store.ts';
import { PlateTexts } from './plate-texts.ts';
import { erasuresOf, makeProof, textsOfProof } from './proof.ts';
import {
  eventsOf,
  filesNaming,
  keysOf,
  type NamingRow,
  type PrivacyParts,
  PrivacyRefused,
  reportsAbout,
  rowsNaming,
  searchedTables,
} from './search.ts';
import {
  clearEvents,
  countErased,
  type ErasedKind,
  type FoundEvent,
  finishErasure,
  insertErasure,
  listErasedEvents,
  listErasures,
  listHoldsOf,
  listIncidentsOf,
  listKeptImages,
  listSharedImages,
  lockPlaceRow,
  maskPlaceRow,
  noteErased,
  noteKeptImages,
  releaseImages,
  removeListEntry,
  removePlaceRow,
  removeReports,
  type SearchedTable,
  type SharedImage,
} from './store.ts';

export interface EraseOptions {
  /** Why, such as the number of the request. */
  readonly reason: string;
  /** Whether to remove the plate from watchlist and hotlists too. */
  readonly withLists: boolean;
  /** Whether to erase the other events if some are under a legal hold. Texts stay until the hold is released. */
  readonly exceptHeld: boolean;
}

/** What was erased. */
export interface Erased {
  /** null if nothing was found. */
  readonly erasureId: string | null;
  /** Numbers of records by place, also of an interrupted run that this one finished. */
  readonly counts: Readonly<Record<string, number>>;
  /** What names the plate and was not erased: names, settings, entries of lists and files, by place. */
  readonly left: Readonly<Record<string, number>>;
  /** Number of events that a legal hold keeps. */
  readonly held: number;
  /** Images of what was erased that something else has, which keeps them. */
  readonly sharedImages: readonly SharedImage[];
}

/** An erasure in progress. */
interface Erasing extends PrivacyParts {
  readonly id: string;
  readonly texts: PlateTexts;
  readonly keys: readonly string[];
  readonly options: EraseOptions;
}

/**
 * Erases everything that is stored about a plate, in small transactions. If it is interrupted, the same call continues it.
 * @throws PrivacyRefused when an event is under a legal hold, unless `exceptHeld`
 */
export async function erasePlate(parts: PrivacyParts, plate: string, options: EraseOptions): Promise<Erased> {
  const texts = new PlateTexts(plate);
  if (texts.isIn(options.reason))
    throw new PrivacyRefused('The reason names the plate, and it is kept: name the request instead');
  const keys = keysOf(plate, texts);
  await refuseIfHeld(parts.db, keys, options);
  const id = await begin(parts, texts.key, options.reason);
  const erasing: Erasing = { ...parts, id, texts, keys, options };
  await eraseReports(erasing);
  const held = await eraseEvents(erasing);
  const left = new Map<string, number>();
  if (held === 0) {
    for (const table of await searchedTables(parts.db)) await eraseTexts(erasing, table, left);
    await eraseFiles(erasing, left);
  }
  return { ...(await finish(erasing)), left: Object.fromEntries(left), held };
}

async function refuseIfHeld(
  db: Database,
  keys: readonly string[],
  { exceptHeld }: EraseOptions,
): Promise<void> {
  if (exceptHeld) return;
  for await (const page of eventsOf(db, keys)) {
    const [hold] = await listHoldsOf(
      db,
      page.map(({ id }) => id),
    );
    if (!hold) continue;
    throw new PrivacyRefused(
      `Nothing was erased: the legal hold ${hold.id} (${hold.reason}) keeps events with this plate. Release it first, or erase the other events with --except-held`,
    );
  }
}

/** Begins an erasure, or continues one of the plate that was interrupted. @returns its id */
async function begin({ db, dataDir }: PrivacyParts, key: string, reason: string): Promise<string> {
  const unfinished = (await listErasures(db)).filter(({ finishedAt }) => finishedAt === null);
  const [known] = await erasuresOf(dataDir, key, unfinished);
  if (known) return known.id;
  const requestedBy = systemUser();
  const proof = await makeProof(dataDir, key);
  return inTransaction(db, async (tx) => {
    const erasureId = await insertErasure(tx, { requestedBy, reason, ...proof });
    await recordActivity(tx, NOBODY, callerOf('privacy erase'), 'privacy.erase', {
      by: requestedBy,
      erasureId,
      reason,
      ...textsOfProof(proof),
    });
    return erasureId;
  });
}

async function finish({ db, id }: Erasing): Promise<Pick<Erased, 'erasureId' | 'counts' | 'sharedImages'>> {
  return inTransaction(db, async (tx) => {
    const sharedImages = await listSharedImages(tx, await listKeptImages(tx, id), []);
    const counts = await finishErasure(tx, id);
    await recordActivity(tx, NOBODY, callerOf('privacy erase'), 'privacy.erase', {
      by: systemUser(),
      erasureId: id,
      counts,
    });
    return { erasureId: Object.keys(counts).length === 0 ? null : id, counts, sharedImages };
  });
}

const BACKUP_PAUSE_MS = 1_000;

/** Runs a transaction while no backup is made, which still needs the images that its snapshot shows, and no hold is set. */
async function transact(db: Database, work: (tx: Transaction) => Promise<void>): Promise<void> {
  for (;;) {
    const isDone = await inTransaction(db, async (tx) => {
      if (!(await tryToExcludeBackups(tx))) return false;
      await lockOutHolds(tx);
      await work(tx);
      return true;
    });
    if (isDone) return;
    await sleep(BACKUP_PAUSE_MS);
  }
}

/** Removes the reports that may show the plate: their files cannot be changed, and can be made again. */
async function eraseReports(erasing: Erasing): Promise<void> {
  const { db, dataDir, id, texts, keys } = erasing;
  const eventIds = await listErasedEvents(db, id);
  for await (const page of eventsOf(db, keys)) eventIds.push(...page.map((event) => event.id));
  const incidentIds = new Set(await listIncidentsOf(db, eventIds));
  for (const table of (await searchedTables(db)).filter(({ name }) => name === 'incidents')) {
    for await (const row of rowsNaming(erasing, table, texts, [])) incidentIds.add(row.key[0] ?? '');
  }
  const found = await reportsAbout(db, eventIds, [...incidentIds]);
  if (found.length === 0) return;
  const unfinished = found.find(({ isOver }) => !isOver);
  if (unfinished)
    throw new PrivacyRefused(
      `The report ${unfinished.id} is being made and may show the plate: wait until it is finished, or cancel it, and run this again`,
    );
  await transact(db, async (tx) => {
    await removeReports(
      tx,
      found.map((report) => report.id),
    );
    for (const { fileKey } of found) {
      if (fileKey !== null) await rm(join(dataDir, 'reports', fileKey), { force: true });
    }
    await countErased(tx, id, 'reports', found.length);
  });
}

/** @returns the number of events that a hold keeps */
async function eraseEvents(erasing: Erasing): Promise<number> {
  const { db, keys, onProgress } = erasing;
  let [held, done] = [0, 0];
  for await (const page of eventsOf(db, keys)) {
    await transact(db, async (tx) => {
      const kept = await findHeld(
        tx,
        page.map((event) => event.id),
      );
      const free = page.filter((event) => !kept.has(event.id));
      held += kept.size;
      await clearPage(tx, erasing, free);
    });
    done += page.length;
    onProgress?.('events', done);
  }
  return held;
}

async function clearPage(tx: Transaction, erasing: Erasing, page: readonly FoundEvent[]): Promise<void> {
  if (page.length === 0) return;
  const { id } = erasing;
  const ids = page.map((event) => event.id);
  await clearEvents(tx, ids);
  await noteErased(tx, id, 'EVENT', ids);
  const images = await eraseImages(tx, erasing, await releaseImages(tx, 'event', ids));
  await countErased(tx, id, 'events', ids.length, Math.min(...page.map(({ storedAt }) => storedAt)));
  if (images > 0) await countErased(tx, id, 'images', images);
}

/** Removes the images to which nothing refers any more, and their bytes, and notes the others. @returns the number of removed ones */
async function eraseImages(
  tx: Transaction,
  { id, files }: Erasing,
  hashes: readonly string[],
): Promise<number> {
  if (hashes.length === 0) return 0;
  const gone = await removeReleased(tx, hashes);
  for (const { sha256, bytes, segment, position } of gone) {
    if (segment !== null && position !== null) await files.segments.clear(segment, position, bytes);
    else await files.blobs.delete(sha256);
  }
  const removed = new Set(gone.map(({ sha256 }) => sha256));
  await noteKeptImages(
    tx,
    id,
    hashes.filter((sha256) => !removed.has(sha256)),
  );
  return gone.length;
}

/** The kinds of records that are sealed, by table. */
const SEALED: Readonly<Record<string, ErasedKind>> = {
  activity: 'ACTIVITY',
  events: 'EVENT',
  log_entries: 'LOG',
};

async function eraseTexts(erasing: Erasing, table: SearchedTable, left: Map<string, number>): Promise<void> {
  const { db, id, texts, options } = erasing;
  const eventIds = table.events === undefined ? [] : await listErasedEvents(db, id);
  for await (const row of rowsNaming(erasing, table, texts, eventIds)) {
    if (row.isErasable && (table.action !== 'list' || options.withLists)) {
      await transact(db, (tx) => eraseRow(tx, erasing, row));
    }
    const isLeft = !row.isErasable || (table.action === 'list' && !options.withLists);
    const isNamed = table.named.some((name) => texts.isIn(row.values[name], name));
    if (isLeft || isNamed) left.set(table.name, (left.get(table.name) ?? 0) + 1);
  }
}

async function eraseRow(tx: Transaction, erasing: Erasing, { table, key }: NamingRow): Promise<void> {
  const { id, texts } = erasing;
  // Somebody may have changed it since it was read.
  const now = await lockPlaceRow(tx, table, key);
  if (now === null) return;
  if (table.action === 'mask') {
    const masked = maskedColumns(table, now, texts);
    if (Object.keys(masked).length === 0) return;
    await maskPlaceRow(tx, table, key, masked);
  } else if (table.action === 'list') {
    await removeListEntry(tx, table, key, now);
  } else {
    await removePlaceRow(tx, table, key);
    if (table.name === 'device_messages') {
      await eraseImages(tx, erasing, await releaseImages(tx, 'message', [key[0] ?? '']));
    }
  }
  const kind = SEALED[table.name];
  if (kind !== undefined) await noteErased(tx, id, kind, [key[0] ?? '']);
  await countErased(tx, id, table.name, 1);
}

function maskedColumns(
  { texts: columns }: SearchedTable,
  values: Readonly<Record<string, unknown>>,
  texts: PlateTexts,
): Record<string, unknown> {
  return Object.fromEntries(
    columns.flatMap((name) => {
      const masked = texts.maskValue(values[name], name);
      return masked === values[name] ? [] : [[name, masked]];
    }),
  );
}

async function eraseFiles({ db, id, dataDir, texts }: Erasing, left: Map<string, number>): Promise<void> {
  for await (const { path, isErasable } of filesNaming(dataDir, texts)) {
    if (!isErasable) {
      left.set('files', (left.get('files') ?? 0) + 1);
      continue;
    }
    await ignoreErrno(rm(path), 'ENOENT');
    await inTransaction(db, (tx) => countErased(tx, id, 'files', 1));
  }
}
