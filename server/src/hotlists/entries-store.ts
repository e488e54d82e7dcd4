import { hash } from 'node:crypto';
import type { HotlistEntry, ListHotlistEntriesInput } from '@gantry/contract/hotlists';
import { HOTLIST_VERSIONS_KEPT } from '@gantry/contract/hotlists';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { confusableKey, plateKey } from '@gantry/contract/plate';
import { type SQL, sql } from 'drizzle-orm';
import { uuidArray } from '../platform/database/arrays.ts';
import { channels, notify } from '../platform/database/notify.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';

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
    rowHash: hash('md5', said, 'buffer').readBigInt64BE().toString(),
  };
}

/** The columns that say what is listed. */
const CONTENT = sql.raw(
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

/** Restores the entries of a former version as a new one. */
export async function restoreEntries(
  tx: Executor,
  hotlistId: string,
  former: number,
  version: number,
): Promise<Changed> {
  // What was added after the former version goes, and what ended after it comes back.
  const { rowCount: ended } = await tx.execute(sql`
    UPDATE hotlist_entries SET to_version = ${version}
    WHERE hotlist_id = ${hotlistId}::uuid AND to_version IS NULL AND from_version > ${former}`);
  const { rowCount: inserted } = await tx.execute(sql`
    INSERT INTO hotlist_entries (id, hotlist_id, from_version, ${CONTENT})
    SELECT id, hotlist_id, ${version}, ${CONTENT} FROM hotlist_entries
    WHERE hotlist_id = ${hotlistId}::uuid AND from_version <= ${former} AND to_version > ${former}`);
  return { inserted: inserted ?? 0, ended: ended ?? 0 };
}

/** Ends entries in force and inserts staged ones, as the mode of the import says. */
export async function applyStaged(
  tx: Executor,
  { hotlistId, importId, mode }: { hotlistId: string; importId: string; mode: 'COMPLETE' | 'ADD' | 'REMOVE' },
  version: number,
): Promise<Changed> {
  const { rowCount: ended } = await tx.execute(sql`
    UPDATE hotlist_entries AS entries SET to_version = ${version}
    WHERE hotlist_id = ${hotlistId}::uuid AND to_version IS NULL AND ${isEndedBy(importId, mode)}`);
  if (mode === 'REMOVE') return { inserted: 0, ended: ended ?? 0 };
  // What is still in force is the same as staged.
  const { rowCount: inserted } = await tx.execute(sql`
    INSERT INTO hotlist_entries (id, hotlist_id, from_version, plate, plate_key, confusable_key, region, reason, reference,
      valid_from, valid_until, extra, row_hash)
    SELECT id, ${hotlistId}::uuid, ${version}, plate, plate_key, confusable_key, region, reason, reference, valid_from,
      valid_until, extra, row_hash
    FROM hotlist_staged AS staged WHERE import_id = ${importId}::uuid AND NOT EXISTS (
      SELECT FROM hotlist_entries AS entries
      WHERE hotlist_id = ${hotlistId}::uuid AND to_version IS NULL AND entries.id = staged.id)`);
  return { inserted: inserted ?? 0, ended: ended ?? 0 };
}

/** Whether an import ends an entry in force (`entries`), or replaces it. */
export function isEndedBy(importId: string, mode: 'COMPLETE' | 'ADD' | 'REMOVE'): SQL {
  const staged = sql`SELECT FROM hotlist_staged AS staged WHERE import_id = ${importId}::uuid`;
  if (mode === 'COMPLETE')
    return sql`NOT EXISTS (${staged} AND staged.id = entries.id AND staged.row_hash = entries.row_hash)`;
  if (mode === 'ADD')
    return sql`EXISTS (${staged} AND staged.id = entries.id AND staged.row_hash <> entries.row_hash)`;
  return sql`EXISTS (${staged} AND staged.plate_key = entries.plate_key
    AND (staged.region IS NULL OR staged.region = entries.region)
    AND (staged.reference IS NULL OR staged.reference = entries.reference))`;
}

/**
 * Brings a list to a version whose entries were inserted and ended before, and makes every process, and the reads of the last
 * minutes, be compared with it.
 * @param userId null for the source of the list
 */
export async function finishVersion(
  tx: Transaction,
  { id, isOneOff }: { readonly id: string; readonly isOneOff: boolean },
  version: number,
  { inserted, ended }: Changed,
): Promise<void> {
  await tx.execute(sql`
    UPDATE hotlists SET version = ${version}, entry_count = entry_count + ${inserted - ended}, refreshed_at = now()
    WHERE id = ${id}::uuid`);
  if (isOneOff) await changeNear(tx, id, version);
  await tx.execute(sql`
    DELETE FROM hotlist_entries
    WHERE hotlist_id = ${id}::uuid AND to_version <= ${version - HOTLIST_VERSIONS_KEPT + 1}`);
  // Processes learn of the new entries after the commit: a first pass finds most reads that they missed until then, and a
  // second one the others.
  await tx.execute(sql`
    INSERT INTO hotlist_look_backs (hotlist_id, kind, state, starts_at, ends_at, due_at, passes_left)
    VALUES (${id}::uuid, 'CHANGE', 'WAITING', now() - interval '5 minutes', now() + interval '1 minute',
      now() + interval '2 seconds', 1)`);
  await notify(tx, channels.hotlists, `${id} ${version}`);
  await notify(tx, channels.hotlistJobs, '');
}

/** The plates without each of their characters, and whole, of entries. Plates have at most 50 characters. */
const nearOf = (isWanted: SQL): SQL => sql`
  INSERT INTO hotlist_near (near, hotlist_id, entry_id)
  SELECT DISTINCT substr(plate_key, 1, at - 1) || substr(plate_key, at + 1), hotlist_id, id
  FROM hotlist_entries, generate_series(0, char_length(plate_key)) AS at
  WHERE to_version IS NULL AND strpos(plate_key, '*') = 0 AND ${isWanted}`;

async function changeNear(tx: Executor, hotlistId: string, version: number): Promise<void> {
  await tx.execute(sql`
    DELETE FROM hotlist_near WHERE hotlist_id = ${hotlistId}::uuid AND entry_id IN (
      SELECT id FROM hotlist_entries WHERE hotlist_id = ${hotlistId}::uuid AND to_version = ${version})`);
  await tx.execute(nearOf(sql`hotlist_id = ${hotlistId}::uuid AND from_version = ${version}`));
}

/** Makes a list tolerate one wrong, missing or additional character, or no longer. */
export async function setNear(tx: Executor, hotlistId: string, isOneOff: boolean): Promise<void> {
  await tx.execute(sql`DELETE FROM hotlist_near WHERE hotlist_id = ${hotlistId}::uuid`);
  if (isOneOff) await tx.execute(nearOf(sql`hotlist_id = ${hotlistId}::uuid`));
}

/** The number of patterns in force in all lists. */
export async function countPatterns(db: Executor): Promise<number> {
  const { rows } = await db.execute<{ n: number }>(
    sql`SELECT count(*) AS n FROM hotlist_entries WHERE to_version IS NULL AND plate_key LIKE '%*%'`,
  );
  return rows[0]?.n ?? 0;
}

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
  const wanted = sql`hotlist_id = ${id}::uuid AND to_version IS NULL AND ${key === null ? sql`true` : sql`plate_key = ${key}`}`;
  // Plan: hotlist_entries_current.
  const { rows } = await db.execute<EntryRow>(sql`
    SELECT * FROM hotlist_entries WHERE ${wanted}
    ORDER BY plate_key, coalesce(region, ''), coalesce(reference, '') LIMIT ${take} OFFSET ${skip}`);
  const { rows: counted } = await db.execute<{ n: number }>(
    key === null
      ? sql`SELECT entry_count AS n FROM hotlists WHERE id = ${id}::uuid`
      : sql`SELECT count(*) AS n FROM hotlist_entries WHERE ${wanted}`,
  );
  return { items: rows.map(toEntry), total: counted[0]?.n ?? 0 };
}

/** An entry in force. @throws AppError `notFound` */
export async function getEntry(db: Executor, hotlistId: string, id: string): Promise<HotlistEntry> {
  const { rows } = isUuid(id)
    ? await db.execute<EntryRow>(sql`
        SELECT * FROM hotlist_entries WHERE id = ${id}::uuid AND hotlist_id = ${hotlistId}::uuid AND to_version IS NULL`)
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
