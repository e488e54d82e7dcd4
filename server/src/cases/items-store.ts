import { hash } from 'node:crypto';
import type { CaseAction, CaseItemRole } from '@gantry/contract/cases';
import { sql } from 'drizzle-orm';
import { canonicalText } from '../evidence/seals.ts';
import { HASH_BYTES } from '../evidence/tree.ts';
import { readDatabaseTime } from '../platform/database/moment.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';

// What a case consists of, and what was done with it.

/** An item as it is stored, with what is known of its image or file. */
export interface ItemRow {
  readonly id: string;
  readonly role: CaseItemRole;
  readonly eventId: string | null;
  readonly certificateId: string | null;
  readonly sha256: string | null;
  readonly bytes: number | null;
  readonly contentType: string | null;
  readonly capturedAt: Date | null;
  readonly derivedFrom: string | null;
  readonly text: string | null;
  readonly addedBy: string | null;
  readonly addedAt: Date;
}

/** An item that is an image. */
export type ImageRow = ItemRow & { readonly sha256: string };

/**
 * Whether an item is an image. The files of items are all images, whatever their role, but for those of certificates: a device
 * message that is a text has none.
 */
export function isImage(item: ItemRow): item is ImageRow {
  return item.sha256 !== null && item.role !== 'CERTIFICATE';
}

type Times = 'capturedAt' | 'addedAt';
type ItemRecord = Record<string, unknown> &
  Omit<ItemRow, Times> & { readonly capturedAt: string | null; readonly addedAt: string };

/** The items of a case, in the order in which they were added. */
export async function listItems(db: Executor, caseId: string): Promise<ItemRow[]> {
  const { rows } = await db.execute<ItemRecord>(sql`
    SELECT item.id, role, event_id AS "eventId", certificate_id AS "certificateId", encode(item.sha256, 'hex') AS sha256,
      bytes, media_type AS "contentType", captured_at AS "capturedAt", derived_from AS "derivedFrom", text,
      added_by AS "addedBy", added_at AS "addedAt"
    FROM case_items AS item LEFT JOIN images ON images.sha256 = item.sha256
    WHERE case_id = ${caseId}::uuid ORDER BY seq`);
  return rows.map((row) => ({
    ...row,
    capturedAt: row.capturedAt === null ? null : new Date(row.capturedAt),
    addedAt: new Date(row.addedAt),
  }));
}

/** An item to add. */
export interface NewItem {
  readonly role: CaseItemRole;
  readonly eventId?: string | null;
  readonly certificateId?: string | null;
  readonly sha256?: string | null;
  readonly capturedAt?: Date | null;
  readonly derivedFrom?: string | null;
  readonly text?: string | null;
  readonly addedBy: string | null;
}

/** Adds items to a case that is locked; images must be stored. @returns their ids */
export async function insertItems(
  tx: Transaction,
  caseId: string,
  items: readonly NewItem[],
): Promise<string[]> {
  if (items.length === 0) return [];
  const { rows } = await tx.execute<{ id: string }>(sql`
    INSERT INTO case_items (case_id, role, event_id, certificate_id, sha256, captured_at, derived_from, text, added_by)
    SELECT ${caseId}::uuid, role, "eventId", "certificateId", decode(sha256, 'hex'), "capturedAt", "derivedFrom", text, "addedBy"
    FROM jsonb_to_recordset(${JSON.stringify(items)}::jsonb) AS given (role text, "eventId" uuid, "certificateId" uuid,
      sha256 text, "capturedAt" timestamptz, "derivedFrom" uuid, text text, "addedBy" uuid)
    RETURNING id`);
  return rows.map(({ id }) => id);
}

/** Which of the hashes are those of stored images. */
export async function findStored(db: Executor, hashes: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.execute<{ sha256: string }>(sql`
    SELECT encode(sha256, 'hex') AS sha256 FROM images
    WHERE sha256 IN (SELECT decode(hex, 'hex') FROM unnest(${sql.param([...hashes])}::text[]) AS hex) AND stored_at IS NOT NULL`);
  return new Set(rows.map(({ sha256 }) => sha256));
}

/** The cases that have an image, the latest one first; at most ten. */
export async function casesWithImage(db: Executor, sha256: string): Promise<string[]> {
  // Plan: case_items_by_file.
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT case_id AS id FROM case_items WHERE sha256 = decode(${sha256}, 'hex') GROUP BY 1 ORDER BY max(seq) DESC LIMIT 10`);
  return rows.map(({ id }) => id);
}

/** Replaces the certificates of a case by those that cover its time. */
export async function replaceCertificates(
  tx: Transaction,
  caseId: string,
  certificates: readonly { readonly id: string; readonly sha256: string | null }[],
): Promise<void> {
  await tx.execute(sql`DELETE FROM case_items WHERE case_id = ${caseId}::uuid AND role = 'CERTIFICATE'`);
  await insertItems(
    tx,
    caseId,
    certificates.map(({ id, sha256 }) => ({
      role: 'CERTIFICATE',
      certificateId: id,
      sha256,
      addedBy: null,
    })),
  );
}

/** An entry of the log of a case. */
export interface LogRow {
  readonly seq: number;
  readonly at: Date;
  readonly userId: string | null;
  readonly action: CaseAction;
  readonly details: Record<string, unknown>;
  /** SHA-256 in hexadecimal digits. */
  readonly prev: string;
  readonly hash: string;
}

type LogRecord = Record<string, unknown> & Omit<LogRow, 'at'> & { readonly at: string };

const LOG_COLUMNS = sql.raw(
  `seq, at, user_id AS "userId", action, details, encode(prev, 'hex') AS prev, encode(hash, 'hex') AS hash`,
);

/** The log of a case, from its beginning. */
export async function listLog(db: Executor, caseId: string): Promise<LogRow[]> {
  const { rows } = await db.execute<LogRecord>(
    sql`SELECT ${LOG_COLUMNS} FROM case_log WHERE case_id = ${caseId}::uuid ORDER BY case_log.seq`,
  );
  return rows.map((row) => ({ ...row, at: new Date(row.at) }));
}

/** What is hashed of an entry: canonical JSON. */
export function textOfEntry(
  caseId: string,
  { at, hash: _, ...entry }: Omit<LogRow, 'hash'> & { hash?: string },
): string {
  return canonicalText({ caseId, ...entry, at: at.toISOString() });
}

export function hashOfEntry(caseId: string, entry: Omit<LogRow, 'hash'>): string {
  return hash('sha256', textOfEntry(caseId, entry), 'hex');
}

/** The ids of the entries of a case, in their order. */
export async function listLogIds(db: Executor, caseId: string): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(
    sql`SELECT id::text AS id FROM case_log WHERE case_id = ${caseId}::uuid ORDER BY case_log.seq`,
  );
  return rows.map(({ id }) => id);
}

const NO_ENTRY = '00'.repeat(HASH_BYTES);

/** The first entry that does not follow from the one before, or was changed; null if there is none. */
export function brokenEntry(caseId: string, log: readonly LogRow[]): LogRow | null {
  let before = { seq: 0, hash: NO_ENTRY };
  for (const entry of log) {
    if (
      entry.seq !== before.seq + 1 ||
      entry.prev !== before.hash ||
      hashOfEntry(caseId, entry) !== entry.hash
    )
      return entry;
    before = entry;
  }
  return null;
}

/** Appends an entry to the log of a case that is locked, by the clock of the database. */
export async function appendLog(
  tx: Transaction,
  caseId: string,
  {
    userId,
    action,
    details = {},
  }: {
    readonly userId: string | null;
    readonly action: CaseAction;
    readonly details?: Record<string, unknown>;
  },
): Promise<LogRow> {
  const { rows } = await tx.execute<LogRecord>(
    sql`SELECT ${LOG_COLUMNS} FROM case_log WHERE case_id = ${caseId}::uuid ORDER BY case_log.seq DESC LIMIT 1`,
  );
  const [last] = rows;
  const now = await readDatabaseTime(tx);
  const unhashed = {
    seq: (last?.seq ?? 0) + 1,
    // The clock may have been set back.
    at: new Date(Math.max(now, last ? Date.parse(last.at) : 0)),
    userId,
    action,
    // As it is read again.
    details: JSON.parse(JSON.stringify(details)) as Record<string, unknown>,
    prev: last?.hash ?? NO_ENTRY,
  };
  const entry = { ...unhashed, hash: hashOfEntry(caseId, unhashed) };
  await tx.execute(sql`
    INSERT INTO case_log (case_id, seq, at, user_id, action, details, prev, hash)
    VALUES (${caseId}::uuid, ${entry.seq}, ${entry.at.toISOString()}::timestamptz, ${userId}::uuid, ${action},
      ${JSON.stringify(entry.details)}::jsonb, decode(${entry.prev}, 'hex'), decode(${entry.hash}, 'hex'))`);
  return entry;
}
