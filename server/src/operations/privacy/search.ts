import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import { readSegment } from '@gantry/spool/segment';
import { timeOfId } from '../../events/id.ts';
import { formerPlateKey } from '../../events/matches.ts';
import type { ImageFiles } from '../../images/blobs.ts';
import type { Database } from '../../platform/database/pool.ts';
import { ASIDE_SUFFIX, spoolFolderOf } from '../../platform/spool-folder.ts';
import { EVENTS, PLACES } from './places.ts';
import { ENCODINGS, type PlateTexts, patternOf } from './plate-texts.ts';
import {
  type FoundEvent,
  listReportsAbout,
  type PlaceRow,
  pageOfEvents,
  pageOfPlace,
  readOpenings,
  readTables,
  type SearchedTable,
  type Sought,
} from './store.ts';

/** What was asked for is not done; the message says why, and what to do. */
export class PrivacyRefused extends Error {
  override readonly name = 'PrivacyRefused';
}

/** What a search needs. */
export interface PrivacyParts {
  readonly db: Database;
  readonly files: ImageFiles;
  readonly dataDir: string;
  /** Folder of backups, if there is one. */
  readonly backupDir: string | undefined;
  /** Number of backups that are kept there. */
  readonly backupKeep: number;
  /** Called with the name of a table and the number of its rows that were read so far. */
  readonly onProgress?: (table: string, rows: number) => void;
}

/** Number of events, and of rows of a table, that are read at once, so that a statement takes a fraction of a second. */
export const EVENTS_AT_ONCE = 500;
const ROWS_AT_ONCE = 2_000;
/** Messages of devices may be large. */
const LARGE_ROWS_AT_ONCE = 200;
const LARGE: ReadonlySet<string> = new Set([
  'device_messages',
  'device_passages',
  'webhook_deliveries',
  'changes',
]);

/** The keys by which events of a plate are found: until an upgrade has renewed all keys, events may have the former one. */
export function keysOf(plate: string, { key }: PlateTexts): string[] {
  return [...new Set([key, formerPlateKey(plate)])];
}

/** The events with the plate, in pages, in the order of time. */
export async function* eventsOf(
  db: Database,
  keys: readonly string[],
): AsyncGenerator<readonly FoundEvent[]> {
  for (let after: string | null = null; ; ) {
    const page: FoundEvent[] = await pageOfEvents(db, keys, after, EVENTS_AT_ONCE);
    if (page.length > 0) yield page;
    if (page.length < EVENTS_AT_ONCE) return;
    after = page.at(-1)?.id ?? null;
  }
}

/** The tables whose texts are searched; events, of which there are most, last. */
export async function searchedTables(db: Database): Promise<SearchedTable[]> {
  const [events, ...others] = await readTables(db, { events: EVENTS, ...PLACES });
  return events === undefined ? others : [...others, events];
}

/** A row that names the plate, or is about one of the events. */
export interface NamingRow extends PlaceRow {
  readonly table: SearchedTable;
  /** Whether an erasure changes the row. If it does not, the plate is part of a name or of a setting. */
  readonly isErasable: boolean;
}

/** The rows of a table that name the plate, page by page. Nothing is locked. */
export async function* rowsNaming(
  { db, onProgress }: Pick<PrivacyParts, 'db' | 'onProgress'>,
  table: SearchedTable,
  texts: PlateTexts,
  eventIds: readonly string[],
): AsyncGenerator<NamingRow> {
  const sought: Sought = { pattern: patternOf(texts.key), eventIds };
  const known = new Set(eventIds);
  const limit = LARGE.has(table.name) ? LARGE_ROWS_AT_ONCE : ROWS_AT_ONCE;
  let read = 0;
  for (let after: readonly string[] | null = null; ; ) {
    const page: Awaited<ReturnType<typeof pageOfPlace>> = await pageOfPlace(db, table, sought, after, limit);
    for (const row of page.rows) {
      const isErasable = isAbout(table, row.values, known) || namesIn(table.texts, row.values, texts);
      if (isErasable || namesIn(table.named, row.values, texts)) yield { ...row, table, isErasable };
    }
    if (page.last === null) return;
    read += limit;
    onProgress?.(table.name, read);
    after = page.last;
  }
}

function namesIn(columns: readonly string[], values: PlaceRow['values'], texts: PlateTexts): boolean {
  return columns.some((name) => texts.isIn(values[name], name));
}

function isAbout(
  { events }: SearchedTable,
  values: PlaceRow['values'],
  eventIds: ReadonlySet<string>,
): boolean {
  return events !== undefined && [values[events]].flat().some((id) => eventIds.has(String(id)));
}

/** Reports whose files may show what happened in one of the events or incidents. */
export async function reportsAbout(
  db: Database,
  eventIds: readonly string[],
  incidentIds: readonly string[],
): ReturnType<typeof listReportsAbout> {
  const moments = [...eventIds.map(timeOfId), ...(await readOpenings(db, incidentIds))];
  return listReportsAbout(db, { moments, incidentIds });
}

/** Folders of the data folder that contain no texts of people or devices, or whose files are found by their rows. */
const NOT_SEARCHED: ReadonlySet<string> = new Set(['postgres', 'images', 'seals', 'map', 'reports']);
/** Secrets, and files of the database. */
const SECRET = /^(?:jwt-secret|seal-key|database-password|initial-admin-password)$/;

/** A file of the data folder that names the plate. */
export interface NamingFile {
  readonly path: string;
  /** Messages that were left aside; others are stored, moved or replaced by the program to which they belong. */
  readonly isErasable: boolean;
}

/** The files of the data folder that name the plate: messages on disk, files of lists, and reports that were put into a folder. */
export async function* filesNaming(dataDir: string, texts: PlateTexts): AsyncGenerator<NamingFile> {
  for (const name of (await ignoreErrno(readdir(dataDir), 'ENOENT')) ?? []) {
    if (!NOT_SEARCHED.has(name) && !SECRET.test(name)) yield* filesUnder(join(dataDir, name), dataDir, texts);
  }
}

async function* filesUnder(path: string, dataDir: string, texts: PlateTexts): AsyncGenerator<NamingFile> {
  const found = await ignoreErrno(stat(path), 'ENOENT', 'ELOOP');
  const names = found?.isDirectory() ? await ignoreErrno(readdir(path), 'ENOENT') : [];
  for (const name of names ?? []) yield* filesUnder(join(path, name), dataDir, texts);
  // A pipe that somebody put there would be waited for.
  if (!found?.isFile()) return;
  const isSpooled = !relative(spoolFolderOf(dataDir), path).startsWith('..');
  const isNamed = isSpooled ? await recordsName(path, texts) : await contentNames(path, texts);
  if (isNamed) yield { path, isErasable: path.endsWith(ASIDE_SUFFIX) };
}

async function recordsName(path: string, texts: PlateTexts): Promise<boolean> {
  const found = await ignoreErrno(readSegment(path), 'ENOENT');
  const records = [...(found?.records ?? []), ...(found?.damaged ?? [])];
  return records.some((record) => texts.isIn(record.toString('utf8')));
}

/** How much of a text is compared again with what follows, in characters: more than the longest spelling of a plate. */
const OVERLAP = 200;

async function contentNames(path: string, texts: PlateTexts): Promise<boolean> {
  // The characters of plates in ASCII are found in any encoding, others only in their own one.
  const encodings = /^[A-Z0-9]*$/.test(texts.key) ? ENCODINGS.slice(0, 1) : ENCODINGS;
  const readers = encodings.map((encoding) => ({ decoder: new TextDecoder(encoding), rest: '' }));
  for await (const chunk of createReadStream(path)) {
    for (const reader of readers) {
      const text = reader.rest + reader.decoder.decode(chunk as Buffer, { stream: true });
      if (texts.mask(text) !== text) return true;
      reader.rest = text.slice(-OVERLAP);
    }
  }
  return false;
}
