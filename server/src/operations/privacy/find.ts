import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import { callerOf, systemUser } from '../../accounts/by-command.ts';
import { NOBODY, recordActivity } from '../../activity/store.ts';
import { listBackups } from '../backup/folder.ts';
import { listCompletedSince } from '../backup/runs-store.ts';
import { PlateTexts } from './plate-texts.ts';
import { erasuresOf, makeProof, textsOfProof } from './proof.ts';
import {
  eventsOf,
  filesNaming,
  keysOf,
  type PrivacyParts,
  reportsAbout,
  rowsNaming,
  searchedTables,
} from './search.ts';
import {
  type ErasureRow,
  listErasures,
  listHoldsOf,
  listImagesOf,
  listIncidentsOf,
  listSharedImages,
} from './store.ts';

/** Maximum number of ids that are kept of each place. */
const IDS_KEPT = 1_000;

/** What was found in one place. */
export interface FoundPlace {
  /** A table, or `files`. */
  readonly place: string;
  /** What an erasure does with it. `lists`: only with `--lists`. `shared`: something else has the image, which keeps it. */
  readonly fate: 'erased' | 'lists' | 'kept' | 'shared';
  readonly count: number;
  /** The first thousand: values of the primary key, separated by blanks, or paths. */
  readonly ids: readonly string[];
}

/** A backup that contains something of the plate. */
export interface BackupWithPlate {
  readonly path: string;
  /** How many more backups are made there before it is removed; null if nothing removes it. */
  readonly backupsLeft: number | null;
}

/** What is stored about a plate. */
export interface FoundPlate {
  readonly places: readonly FoundPlace[];
  readonly holds: Awaited<ReturnType<typeof listHoldsOf>>;
  readonly backups: readonly BackupWithPlate[];
  readonly erasures: readonly ErasureRow[];
}

/** Collects numbers and ids by place. */
export class Counts {
  readonly #found = new Map<
    string,
    { place: string; fate: FoundPlace['fate']; count: number; ids: string[] }
  >();

  add(place: string, fate: FoundPlace['fate'], ...ids: readonly string[]): void {
    if (ids.length === 0) return;
    const key = `${place} ${fate}`;
    const known = this.#found.get(key) ?? { place, fate, count: 0, ids: [] };
    known.count += ids.length;
    known.ids.push(...ids.slice(0, Math.max(0, IDS_KEPT - known.ids.length)));
    this.#found.set(key, known);
  }

  list(): FoundPlace[] {
    return [...this.#found.values()];
  }
}

/** Finds everything that is stored about a plate. The search is recorded, without the plate. */
export async function findPlate(
  parts: PrivacyParts,
  plate: string,
  reason: string | null,
): Promise<FoundPlate> {
  const { db, dataDir } = parts;
  const texts = new PlateTexts(plate);
  const counts = new Counts();
  const eventIds: string[] = [];
  const hashes = new Set<string>();
  let firstAt = Number.POSITIVE_INFINITY;
  for await (const page of eventsOf(db, keysOf(plate, texts))) {
    const ids = page.map(({ id }) => id);
    firstAt = Math.min(firstAt, ...page.map(({ storedAt }) => storedAt));
    eventIds.push(...ids);
    counts.add('events', 'erased', ...ids);
    for (const { sha256 } of await listImagesOf(db, ids)) hashes.add(sha256);
  }
  const shared = await listSharedImages(db, [...hashes], eventIds);
  for (const { sha256, of, id } of shared) counts.add('images', 'shared', `${sha256} ${of} ${id}`);
  for (const { sha256 } of shared) hashes.delete(sha256);
  counts.add('images', 'erased', ...hashes);
  await findTexts(parts, texts, eventIds, counts);
  for await (const { path, isErasable } of filesNaming(dataDir, texts)) {
    counts.add('files', isErasable ? 'erased' : 'kept', path);
  }
  const erasures = await erasuresOf(dataDir, texts.key, await listErasures(db));
  const since = Math.min(firstAt, ...erasures.map((each) => each.firstAt ?? Number.POSITIVE_INFINITY));
  await recordCommand(parts, 'find', texts.key, { reason });
  return {
    places: counts.list(),
    holds: await listHoldsOf(db, eventIds),
    backups: await backupsSince(parts, since),
    erasures,
  };
}

async function findTexts(
  parts: PrivacyParts,
  texts: PlateTexts,
  eventIds: readonly string[],
  counts: Counts,
): Promise<void> {
  const known = new Set(eventIds);
  const incidentIds = new Set(await listIncidentsOf(parts.db, eventIds));
  const reportIds = new Set<string>();
  for (const table of await searchedTables(parts.db)) {
    for await (const { key, isErasable } of rowsNaming(parts, table, texts, eventIds)) {
      const id = key.join(' ');
      if (table.name === 'events' && known.has(id)) continue;
      if (table.name === 'incidents' && isErasable) incidentIds.add(id);
      if (table.name === 'reports') reportIds.add(id);
      else counts.add(table.name, !isErasable ? 'kept' : table.action === 'list' ? 'lists' : 'erased', id);
    }
  }
  for (const { id } of await reportsAbout(parts.db, eventIds, [...incidentIds])) reportIds.add(id);
  counts.add('reports', 'erased', ...reportIds);
}

/** Records a command about a plate, which is not named, so that it is not stored again. */
export async function recordCommand(
  { db, dataDir }: Pick<PrivacyParts, 'db' | 'dataDir'>,
  verb: 'find' | 'export',
  key: string,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  const proof = textsOfProof(await makeProof(dataDir, key));
  await recordActivity(db, NOBODY, callerOf(`privacy ${verb}`), `privacy.${verb}`, {
    by: systemUser(),
    ...details,
    ...proof,
  });
}

/** The backups that were made since a time (Unix milliseconds) and still exist. */
async function backupsSince(
  { db, backupDir, backupKeep }: PrivacyParts,
  since: number,
): Promise<BackupWithPlate[]> {
  if (!Number.isFinite(since)) return [];
  const names = backupDir === undefined ? [] : await listBackups(backupDir);
  const found: BackupWithPlate[] = [];
  for (const { folder, name } of await listCompletedSince(db, since)) {
    const path = join(folder, name);
    if ((await ignoreErrno(stat(path), 'ENOENT', 'ENOTDIR', 'EACCES')) === undefined) continue;
    const newer = names.length - 1 - names.indexOf(name);
    found.push({ path, backupsLeft: folder === backupDir ? Math.max(1, backupKeep - newer) : null });
  }
  return found;
}
