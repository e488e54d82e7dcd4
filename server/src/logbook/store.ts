import { isUuid } from '@gantry/contract/id';
import type { AddLogEntryInput, ListLogInput, LogEntry, LogKind } from '@gantry/contract/log';
import { type SQL, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { caseFolded, contains } from '../platform/database/case-folded.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { invalidInput, notFound } from '../platform/error.ts';
import type { Interval } from '../platform/time.ts';

// The entries of the log. They are only ever inserted.

interface EntryRow extends Record<string, unknown> {
  readonly id: string;
  readonly at: string;
  readonly createdAt: string;
  readonly userId: string;
  readonly desk: string;
  readonly shiftId: string | null;
  readonly kind: LogKind;
  readonly text: string;
  readonly source: LogEntry['source'];
  readonly refs: LogEntry['refs'];
  readonly corrects: string | null;
  readonly correctedBy: string | null;
  readonly validUntil: string | null;
}

const COLUMNS = sql.raw(`
  id::text AS id, at, created_at AS "createdAt", user_id AS "userId", desk, shift_id AS "shiftId", kind, text, source, refs,
  corrects::text AS corrects, valid_until AS "validUntil",
  (SELECT later.id::text FROM log_entries AS later WHERE later.corrects = entry.id) AS "correctedBy"`);

/** Something that was written so much later than it happened is marked. */
const LATE_MS = 60_000;

async function toEntries(db: Executor, rows: readonly EntryRow[]): Promise<LogEntry[]> {
  const nameOf = await findNames(
    db,
    rows.map(({ userId }) => userId),
  );
  return rows.map(({ userId, ...row }) => {
    const [at, createdAt] = [new Date(row.at), new Date(row.createdAt)];
    return {
      ...row,
      at,
      createdAt,
      isLate: createdAt.getTime() - at.getTime() > LATE_MS,
      by: nameOf(userId) ?? { id: userId, name: 'a former user' },
      validUntil: row.validUntil === null ? null : new Date(row.validUntil),
    };
  });
}

/** Ids are numbers of at most 18 digits. */
const ID = /^[1-9]\d{0,17}$/;

/** @throws AppError `notFound` */
export async function getEntry(db: Executor, id: string): Promise<LogEntry> {
  const { rows } = ID.test(id)
    ? await db.execute<EntryRow>(sql`SELECT ${COLUMNS} FROM log_entries AS entry WHERE id = ${id}::bigint`)
    : { rows: [] };
  const [entry] = await toEntries(db, rows);
  if (!entry) throw notFound('Log entry');
  return entry;
}

/** What is stored of an entry. */
export interface NewEntry
  extends Pick<AddLogEntryInput, 'kind' | 'text' | 'source'>,
    Pick<LogEntry, 'refs' | 'desk' | 'shiftId'> {
  readonly userId: string;
  /** When it happened, in Unix milliseconds; null: now. */
  readonly at: number | null;
  readonly validUntil: number | null;
  readonly corrects: string | null;
  readonly idempotencyKey: string | null;
}

/**
 * Adds an entry.
 * @returns null if its user has used the idempotency key already, or the entry that it corrects was corrected already
 */
export async function insertEntry(tx: Transaction, entry: NewEntry): Promise<LogEntry | null> {
  const { userId, at, desk, shiftId, kind, text, source, refs, corrects, validUntil, idempotencyKey } = entry;
  const { rows } = await tx.execute<EntryRow>(sql`
    INSERT INTO log_entries AS entry (at, user_id, desk, shift_id, kind, text, source, refs, corrects, valid_until, idempotency_key)
    VALUES (${at === null ? sql`now()` : moment(at)}, ${userId}::uuid, ${desk}, ${shiftId}::uuid, ${kind}, ${text},
      ${source && JSON.stringify(source)}::jsonb, ${JSON.stringify(refs)}::jsonb, ${corrects}::bigint,
      ${validUntil === null ? null : moment(validUntil)}, ${idempotencyKey})
    ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`);
  const [added] = await toEntries(tx, rows);
  return added ?? null;
}

/** The entry that a user added with an idempotency key. */
export async function findByKey(db: Executor, userId: string, key: string): Promise<LogEntry | null> {
  const { rows } = await db.execute<EntryRow>(sql`
    SELECT ${COLUMNS} FROM log_entries AS entry WHERE user_id = ${userId}::uuid AND idempotency_key = ${key}`);
  const [entry] = await toEntries(db, rows);
  return entry ?? null;
}

/** The entry that stands in the place of another one; null if there is none. */
export async function findCorrection(db: Executor, id: string): Promise<LogEntry | null> {
  const { rows } = await db.execute<EntryRow>(
    sql`SELECT ${COLUMNS} FROM log_entries AS entry WHERE corrects = ${id}::bigint`,
  );
  const [entry] = await toEntries(db, rows);
  return entry ?? null;
}

const IS_CURRENT = sql.raw('NOT EXISTS (SELECT FROM log_entries AS later WHERE later.corrects = entry.id)');

function isId(column: SQL, id: string): SQL {
  return isUuid(id) ? sql`${column} = ${id}::uuid` : sql`false`;
}

function isValidAt(now: number): SQL {
  return sql`(kind = 'INSTRUCTION' AND (valid_until IS NULL OR valid_until > ${moment(now)}) AND ${IS_CURRENT})`;
}

/** An entry that refers to something, or to an incident that was merged into it. */
function isAbout(refId: string): SQL {
  if (!isUuid(refId)) return sql`false`;
  // Plan: log_entries_by_ref, incident_work_by_merged.
  return sql`(refs <> '[]' AND refs @> ANY (ARRAY(
    SELECT jsonb_build_array(jsonb_build_object('id', id)) FROM (
      SELECT ${refId}::uuid AS id UNION ALL SELECT incident_id FROM incident_work WHERE merged_into = ${refId}::uuid) AS about)))`;
}

function conditionsOf(input: ListLogInput, { from, until }: Interval, now: number): SQL {
  const { desk, kind, userId, shiftId, refId, search, current, valid } = input;
  const conditions = [
    sql`true`,
    ...(Number.isFinite(from) ? [sql`at >= ${moment(from)}`] : []),
    ...(Number.isFinite(until) ? [sql`at < ${moment(until)}`] : []),
    ...(desk === undefined ? [] : [sql`${caseFolded(sql`desk`)} = ${caseFolded(desk)}`]),
    ...(kind === undefined ? [] : [sql`kind = ${kind}`]),
    ...(userId === undefined ? [] : [isId(sql`user_id`, userId)]),
    ...(shiftId === undefined ? [] : [isId(sql`shift_id`, shiftId)]),
    ...(refId === undefined ? [] : [isAbout(refId)]),
    ...(search === undefined ? [] : [contains(sql`text`, search)]),
    ...(current ? [IS_CURRENT] : []),
    ...(valid ? [isValidAt(now)] : []),
  ];
  return sql.join(conditions, sql` AND `);
}

/** The entries that follow one, the newest first, and one more if there are more. @throws AppError `badRequest` for an unknown one */
export async function listEntries(
  db: Executor,
  input: ListLogInput,
  interval: Interval,
  now: number,
): Promise<LogEntry[]> {
  const wanted = conditionsOf(input, interval, now);
  const after = input.before === undefined ? sql`true` : await isAfter(db, input.before);
  // Plan: log_entries_by_time from its end, or from the entry.
  const { rows } = await db.execute<EntryRow>(sql`
    SELECT ${COLUMNS} FROM log_entries AS entry WHERE ${wanted} AND ${after}
    ORDER BY at DESC, entry.id DESC LIMIT ${input.take + 1}`);
  return toEntries(db, rows);
}

async function isAfter(db: Executor, before: string): Promise<SQL> {
  const last = await getEntry(db, before).catch(() => {
    throw invalidInput('before', 'There is no such entry: give the id of the last one that you have');
  });
  return sql`(at, entry.id) < (${moment(last.at.getTime())}, ${last.id}::bigint)`;
}

/** The valid instructions, the newest first, with their number. */
export async function listInstructions(db: Executor, now: number, limit: number) {
  // Plan: log_entries_instructions.
  const { rows } = await db.execute<EntryRow>(sql`
    SELECT ${COLUMNS} FROM log_entries AS entry WHERE ${isValidAt(now)} ORDER BY at DESC, entry.id DESC LIMIT ${limit}`);
  const { rows: counted } = await db.execute<{ total: number }>(
    sql`SELECT count(*)::int AS total FROM log_entries AS entry WHERE ${isValidAt(now)}`,
  );
  return { total: counted[0]?.total ?? 0, items: await toEntries(db, rows) };
}

const TABLES = { INCIDENT: 'incidents', SENSOR: 'sensors', LOCATION: 'locations' } as const;

/** What an entry refers to, with the names of now, each once. @throws AppError `badRequest` for what does not exist */
export async function nameRefs(db: Executor, refs: AddLogEntryInput['refs']): Promise<LogEntry['refs']> {
  const named = new Map<string, LogEntry['refs'][number]>();
  for (const [at, { kind, id }] of refs.entries()) {
    const name = sql.raw(kind === 'INCIDENT' ? 'title' : 'name');
    const { rows } = isUuid(id)
      ? await db.execute<{ name: string }>(
          sql`SELECT ${name} AS name FROM ${sql.raw(TABLES[kind])} WHERE id = ${id}::uuid`,
        )
      : { rows: [] };
    if (!rows[0]) throw invalidInput(`refs.${at}.id`, `There is no ${kind.toLowerCase()} with the id ${id}`);
    named.set(`${kind} ${id.toLowerCase()}`, { kind, id: id.toLowerCase(), name: rows[0].name });
  }
  return [...named.values()];
}
