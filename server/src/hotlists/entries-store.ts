import { hash } from 'node:crypto';
import type {
  FindHotlistEntriesInput,
  FoundHotlistEntry,
  HotlistEntry,
  ListHotlistEntriesInput,
} from '@gantry/contract/hotlists';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { confusableKey, plateKey } from '@gantry/contract/plate';
import { type SQL, sql } from 'drizzle-orm';
import { uuidArray } from '../platform/database/arrays.ts';
import { sortedName } from '../platform/database/case-folded.ts';
import { channels, notify } from '../platform/database/notify.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import type { Timings } from '../platform/timings.ts';
import { isListSeenBy, type Viewer } from '../watchlist/hits-store.ts';
import { IN_FORCE } from '../watchlist/hotlists-store.ts';
import { KEPT_VERSIONS, type ListOfPlates, type ListRow } from './store.ts';

/** What an entry says. Times in ISO 8601. */
export interface EntryContent {
  readonly plate: string;
  readonly region: string | null;
  readonly reason: string;
  readonly reference: string | null;
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  readonly approvedBy: string | null;
  /** YYYY-MM-DD */
  readonly reviewOn: string | null;
  readonly extra: Readonly<Record<string, string>> | null;
}

/** An entry with what follows from its content. */
export interface KeyedEntry extends EntryContent {
  /** The same for all entries of a list with this plate, region and reference, in every version. */
  readonly id: string;
  readonly plateKey: string;
  readonly confusableKey: string;
  /** Differs, in practice, between any two contents. A signed 64-bit number. */
  readonly rowHash: string;
}

/** Computes the keys of an entry of a list. */
export function keyed(hotlistId: string, content: EntryContent): KeyedEntry {
  const key = plateKey(content.plate);
  const identity = JSON.stringify([hotlistId, key, content.region, content.reference]);
  const { plate, reason, validFrom, validUntil, approvedBy, reviewOn, extra } = content;
  const said = JSON.stringify([
    plate,
    reason,
    validFrom,
    validUntil,
    approvedBy,
    reviewOn,
    extra && Object.entries(extra).sort(),
  ]);
  const digest = hash('md5', identity, 'hex');
  return {
    ...content,
    id: `${digest.slice(0, 8)}-${digest.slice(8, 12)}-${digest.slice(12, 16)}-${digest.slice(16, 20)}-${digest.slice(20)}`,
    plateKey: key,
    confusableKey: confusableKey(key),
    rowHash: BigInt.asIntN(64, BigInt(`0x${hash('md5', said, 'hex').slice(0, 16)}`)).toString(),
  };
}

/** The columns that say what is listed. */
export const CONTENT = sql.raw(
  'plate, plate_key, confusable_key, region, reason, reference, valid_from, valid_until, approved_by, review_on, extra, row_hash',
);

/** Inserts entries that a version adds. */
export async function insertEntries(
  tx: Executor,
  hotlistId: string,
  version: number,
  entries: readonly KeyedEntry[],
): Promise<number> {
  const rows = entries.map((each) => ({
    id: each.id,
    plate: each.plate,
    plate_key: each.plateKey,
    confusable_key: each.confusableKey,
    region: each.region,
    reason: each.reason,
    reference: each.reference,
    valid_from: each.validFrom,
    valid_until: each.validUntil,
    approved_by: each.approvedBy,
    review_on: each.reviewOn,
    extra: each.extra,
    row_hash: each.rowHash,
  }));
  const { rowCount } = await tx.execute(sql`
    INSERT INTO hotlist_entries (id, hotlist_id, from_version, ${CONTENT})
    SELECT id, ${hotlistId}::uuid, ${version}, ${CONTENT}
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS entry (id uuid, plate text, plate_key text,
      confusable_key text, region text, reason text, reference text, valid_from timestamptz, valid_until timestamptz,
      approved_by text, review_on date, extra jsonb, row_hash bigint)`);
  return rowCount ?? 0;
}

/** Ends entries in force that a version no longer contains, or that it changes. @returns their number */
export async function endEntries(
  tx: Executor,
  hotlistId: string,
  version: number,
  ids: readonly string[],
): Promise<number> {
  const { rowCount } = await tx.execute(sql`
    UPDATE hotlist_entries SET to_version = ${version}
    WHERE hotlist_id = ${hotlistId}::uuid AND to_version IS NULL AND id = ANY (${uuidArray(ids, (id) => id)}::uuid[])`);
  return rowCount ?? 0;
}

/** The differences in the number of entries. */
export interface Changed {
  readonly inserted: number;
  readonly ended: number;
}

/**
 * Puts a version of a list in force whose entries were inserted and ended before, and makes every process, and the reads of the
 * last minutes, be compared with it.
 */
export async function finishVersion(
  tx: Transaction,
  { id, tolerance }: Pick<ListRow, 'id' | 'tolerance'>,
  version: number,
  { inserted, ended }: Changed,
  [first]: Timings['hotlistChangeMs'],
): Promise<void> {
  await tx.execute(sql`
    UPDATE hotlists SET version = ${version}, entry_count = entry_count + ${inserted - ended}, refreshed_at = now()
    WHERE id = ${id}::uuid`);
  if (tolerance === 'ONE_OFF') await addNear(tx, id, sql`from_version = ${version}`);
  // Processes learn of the new entries after the commit: a first pass finds most reads that they missed until then, and a
  // second one the others.
  await tx.execute(sql`
    INSERT INTO hotlist_look_backs (hotlist_id, kind, state, starts_at, ends_at, due_at, passes_left)
    VALUES (${id}::uuid, 'CHANGE', 'WAITING', now() - interval '5 minutes', now(),
      now() + make_interval(secs => ${first / 1000}::float8), 1)`);
  await notify(tx, channels.hotlists, `${id} ${version}`);
  await notify(tx, channels.hotlistJobs, '');
}

/** Adds the plates of entries, whole and without each of their characters, as far as they are not there. */
export async function addNear(tx: Executor, hotlistId: string, isWanted: SQL): Promise<void> {
  await tx.execute(sql`
    INSERT INTO hotlist_near (near, hotlist_id, entry_id)
    SELECT DISTINCT CASE WHEN at = 0 THEN plate_key ELSE substr(plate_key, 1, at - 1) || substr(plate_key, at + 1) END,
      hotlist_id, id
    FROM hotlist_entries AS entries, generate_series(0, char_length(plate_key)) AS at
    WHERE hotlist_id = ${hotlistId}::uuid AND strpos(plate_key, '*') = 0 AND ${isWanted}
      AND NOT EXISTS (SELECT FROM hotlist_near WHERE hotlist_id = ${hotlistId}::uuid AND entry_id = entries.id)`);
}

/** Makes a list tolerate one wrong, missing or additional character, or no longer. */
export async function setNear(tx: Executor, hotlistId: string, isOneOff: boolean): Promise<void> {
  if (isOneOff) await addNear(tx, hotlistId, sql`true`);
  else await tx.execute(sql`DELETE FROM hotlist_near WHERE hotlist_id = ${hotlistId}::uuid`);
}

/** Number of rows that are removed at once. */
const REMOVED_AT_ONCE = 10_000;

/** Removes rows that belong to no version that is kept, of lists in which nothing is being prepared. @returns their number */
export async function removeFormerEntries(db: Executor): Promise<number> {
  const { rows } = await db.execute<{ hotlist_id: string; id: string }>(sql`
    DELETE FROM hotlist_entries WHERE ctid = ANY (ARRAY(
      SELECT entries.ctid FROM (SELECT id, version, deleted_at, ${KEPT_VERSIONS} AS kept FROM hotlists) AS lists
        JOIN hotlist_entries AS entries ON hotlist_id = lists.id
      WHERE (deleted_at IS NOT NULL OR to_version <= version
          AND NOT EXISTS (SELECT FROM unnest(kept) AS n WHERE n >= from_version AND n < to_version))
        AND NOT EXISTS (SELECT FROM hotlist_imports WHERE hotlist_imports.hotlist_id = lists.id AND state = 'APPLYING')
      LIMIT ${REMOVED_AT_ONCE})) RETURNING hotlist_id, id`);
  await db.execute(sql`
    DELETE FROM hotlist_near USING unnest(${uuidArray(rows, ({ hotlist_id }) => hotlist_id)}::uuid[],
      ${uuidArray(rows, ({ id }) => id)}::uuid[]) AS gone (hotlist_id, id)
    WHERE hotlist_near.hotlist_id = gone.hotlist_id AND entry_id = gone.id AND NOT EXISTS (
      SELECT FROM hotlist_entries AS entries WHERE entries.hotlist_id = gone.hotlist_id AND entries.id = gone.id)`);
  return rows.length;
}

/** The number of entries in force of a list for plates that look like one. */
export async function countAlike(
  db: Executor,
  hotlistId: string,
  { confusableKey: key }: KeyedEntry,
): Promise<number> {
  const { rows } = await db.execute<{ n: number }>(sql`
    SELECT count(*) AS n FROM hotlist_entries JOIN hotlists ON hotlists.id = hotlist_id
    WHERE hotlist_id = ${hotlistId}::uuid AND confusable_key = ${key} AND ${IN_FORCE}`);
  return rows[0]?.n ?? 0;
}

/** The other lists with another priority that have the plate of an entry, too. */
export async function findOthersOf(
  db: Executor,
  hotlistId: string,
  { plateKey: key, confusableKey: confusable }: KeyedEntry,
): Promise<ListOfPlates[]> {
  // Plan: hotlist_entries_by_key.
  const { rows } = await db.execute<ListOfPlates & Record<string, unknown>>(sql`
    SELECT DISTINCT hotlist_id AS "hotlistId", 1 AS plates FROM hotlist_entries JOIN hotlists ON hotlists.id = hotlist_id
    WHERE confusable_key = ${confusable} AND plate_key = ${key} AND ${IN_FORCE} AND is_active AND deleted_at IS NULL
      AND priority <> (SELECT priority FROM hotlists AS own WHERE own.id = ${hotlistId}::uuid)`);
  return rows;
}

/** The number of patterns in force in all lists. */
export async function countPatterns(db: Executor): Promise<number> {
  const { rows } = await db.execute<{ n: number }>(
    sql`SELECT count(*) AS n FROM hotlist_entries JOIN hotlists ON hotlists.id = hotlist_id
      WHERE plate_key LIKE '%*%' AND ${IN_FORCE} AND deleted_at IS NULL`,
  );
  return rows[0]?.n ?? 0;
}

const ENTRIES = sql.raw('hotlist_entries JOIN hotlists ON hotlists.id = hotlist_id');
const SHOWN = sql.raw('hotlist_entries.*');

interface EntryRow extends Record<string, unknown> {
  id: string;
  hotlist_id: string;
  plate: string;
  region: string | null;
  reason: string;
  reference: string | null;
  valid_from: string | null;
  valid_until: string | null;
  approved_by: string | null;
  review_on: string | null;
  extra: Record<string, string> | null;
  from_version: number;
}

/** One page of the entries in force, by plate; only those for one plate if it is given. */
export async function listEntries(
  db: Executor,
  {
    id,
    plate,
    skip,
    take,
  }: Pick<ListHotlistEntriesInput, 'plate' | 'skip' | 'take'> & { readonly id: string },
): Promise<Page<HotlistEntry>> {
  const key = plate === undefined ? null : plateKey(plate);
  const wanted = sql`hotlist_id = ${id}::uuid AND ${IN_FORCE} AND ${key === null ? sql`true` : sql`plate_key = ${key}`}`;
  // Plan: hotlist_entries_by_plate.
  const { rows } = await db.execute<EntryRow>(sql`
    SELECT ${SHOWN} FROM ${ENTRIES} WHERE ${wanted}
    ORDER BY plate_key, coalesce(region, ''), coalesce(reference, '') LIMIT ${take} OFFSET ${skip}`);
  const { rows: counted } = await db.execute<{ n: number }>(
    key === null
      ? sql`SELECT entry_count AS n FROM hotlists WHERE id = ${id}::uuid`
      : sql`SELECT count(*) AS n FROM ${ENTRIES} WHERE ${wanted}`,
  );
  return { items: rows.map(toEntry), total: counted[0]?.n ?? 0 };
}

/** One page of the entries in force for a plate in all lists that the user sees, by the name of the list. */
export async function findEntriesOfPlate(
  db: Executor,
  viewer: Viewer,
  { plate, skip, take }: Pick<FindHotlistEntriesInput, 'plate' | 'skip' | 'take'>,
): Promise<Page<FoundHotlistEntry>> {
  const wanted = sql`plate_key = ${plateKey(plate)} AND ${IN_FORCE} AND deleted_at IS NULL AND ${isListSeenBy(viewer)}`;
  // Plan: hotlist_entries_by_plate for each list.
  const { rows } = await db.execute<EntryRow & { hotlist_name: string }>(sql`
    SELECT ${SHOWN}, hotlists.name AS hotlist_name FROM ${ENTRIES} WHERE ${wanted}
    ORDER BY ${sortedName(sql`hotlists.name`)}, hotlist_id, hotlist_entries.id LIMIT ${take} OFFSET ${skip}`);
  const { rows: counted } = await db.execute<{ n: number }>(
    sql`SELECT count(*) AS n FROM ${ENTRIES} WHERE ${wanted}`,
  );
  const items = rows.map((row) => ({ ...toEntry(row), hotlistName: row.hotlist_name }));
  return { items, total: counted[0]?.n ?? 0 };
}

/** An entry in force. @throws AppError `notFound` */
export async function getEntry(db: Executor, hotlistId: string, id: string): Promise<HotlistEntry> {
  const { rows } = isUuid(id)
    ? await db.execute<EntryRow>(sql`
        SELECT ${SHOWN} FROM ${ENTRIES}
        WHERE hotlist_entries.id = ${id}::uuid AND hotlist_id = ${hotlistId}::uuid AND ${IN_FORCE}`)
    : { rows: [] };
  if (!rows[0]) throw notFound('Entry of the hotlist');
  return toEntry(rows[0]);
}

function toEntry(row: EntryRow): HotlistEntry {
  return {
    id: row.id,
    hotlistId: row.hotlist_id,
    plate: row.plate,
    region: row.region,
    reason: row.reason,
    reference: row.reference,
    validFrom: row.valid_from === null ? null : new Date(row.valid_from),
    validUntil: row.valid_until === null ? null : new Date(row.valid_until),
    approvedBy: row.approved_by,
    reviewOn: row.review_on,
    extra: row.extra,
    sinceVersion: row.from_version,
  };
}
