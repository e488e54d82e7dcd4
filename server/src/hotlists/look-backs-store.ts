import { type HotlistLookBack, MAX_LOOK_BACK_PLATES } from '@gantry/contract/hotlists';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { firstIdAt } from '../events/id.ts';
import { textArray, uuidArray } from '../platform/database/arrays.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import { IN_FORCE } from '../watchlist/hotlists-store.ts';

/** A row of `hotlist_look_backs`. */
export interface LookBackRow extends Record<string, unknown> {
  readonly id: string;
  readonly hotlist_id: string;
  readonly kind: HotlistLookBack['kind'];
  readonly state: HotlistLookBack['state'];
  readonly starts_at: string;
  readonly ends_at: string;
  readonly changed_at: string;
  readonly entry_ids: string[] | null;
  readonly plates: number;
  readonly done: number;
  readonly hits: number;
  readonly error: string | null;
  readonly requested_by: string | null;
  readonly created_at: string;
  readonly finished_at: string | null;
  readonly passes_left: number;
  readonly attempts: number;
}

/** Orders a search for entries in the events of some days. @returns its id */
export async function insertLookBack(
  db: Executor,
  {
    hotlistId,
    entryIds,
    days,
    userId,
  }: { hotlistId: string; entryIds: readonly string[]; days: number; userId: string },
): Promise<string> {
  const { rows } = await db.execute<{ id: string }>(sql`
    INSERT INTO hotlist_look_backs (hotlist_id, kind, state, starts_at, ends_at, entry_ids, plates, requested_by, due_at)
    VALUES (${hotlistId}::uuid, 'REQUESTED', 'WAITING', now() - make_interval(days => ${days}::integer), now(),
      ${uuidArray(entryIds, (id) => id)}::uuid[], ${entryIds.length}, ${userId}::uuid, now()) RETURNING id`);
  return rows[0]?.id ?? '';
}

/** Of some ids, those of entries in force; or of the entries that a version added, one more than a look-back may have. */
export async function findEntryIds(
  db: Executor,
  hotlistId: string,
  {
    entryIds,
    version,
  }: { readonly entryIds?: readonly string[] | undefined; readonly version?: number | undefined },
): Promise<string[]> {
  const ids = (entryIds ?? []).filter(isUuid);
  const wanted =
    version === undefined
      ? sql`hotlist_entries.id = ANY (${uuidArray(ids, (id) => id)}::uuid[])`
      : sql`from_version = ${version}`;
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT DISTINCT hotlist_entries.id FROM hotlist_entries JOIN hotlists ON hotlists.id = hotlist_id
    WHERE hotlist_id = ${hotlistId}::uuid AND ${IN_FORCE} AND ${wanted} LIMIT ${MAX_LOOK_BACK_PLATES + 1}`);
  return rows.map(({ id }) => id);
}

/** @throws AppError `notFound` */
export async function findLookBack(db: Executor, id: string): Promise<LookBackRow> {
  const { rows } = isUuid(id)
    ? await db.execute<LookBackRow>(sql`SELECT * FROM hotlist_look_backs WHERE id = ${id}::uuid`)
    : { rows: [] };
  if (!rows[0]) throw notFound('Look-back');
  return rows[0];
}

/** One page of the look-backs of a list, newest first. */
export async function listLookBacks(
  db: Executor,
  hotlistId: string,
  { skip, take }: { readonly skip: number; readonly take: number },
): Promise<Page<HotlistLookBack>> {
  const { rows } = await db.execute<LookBackRow>(sql`
    SELECT * FROM hotlist_look_backs WHERE hotlist_id = ${hotlistId}::uuid
    ORDER BY created_at DESC, id DESC LIMIT ${take} OFFSET ${skip}`);
  const { rows: counted } = await db.execute<{ n: number }>(
    sql`SELECT count(*) AS n FROM hotlist_look_backs WHERE hotlist_id = ${hotlistId}::uuid`,
  );
  return { items: await toLookBacks(db, rows), total: counted[0]?.n ?? 0 };
}

/** Ends a look-back that has not finished. @returns whether it did */
export async function cancelLookBackRow(db: Executor, id: string): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    UPDATE hotlist_look_backs SET state = 'CANCELLED', finished_at = now(), due_at = NULL
    WHERE id = ${id}::uuid AND state IN ('WAITING', 'RUNNING')`);
  return (rowCount ?? 0) > 0;
}

/** Takes the look-back that has been due for the longest time. */
export async function claimLookBack(db: Executor, leaseMs: number): Promise<LookBackRow[]> {
  const { rows } = await db.execute<LookBackRow>(sql`
    UPDATE hotlist_look_backs SET attempts = attempts + 1, state = 'RUNNING',
      due_at = now() + make_interval(secs => ${leaseMs / 1000}::float8)
    WHERE id = (SELECT id FROM hotlist_look_backs WHERE due_at <= now() ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING *`);
  return rows;
}

/** Records progress and keeps the look-back for some more time. @returns false if it was cancelled or taken over */
export async function noteLookBack(
  db: Executor,
  { id, attempts }: LookBackRow,
  { done, hits, leaseMs }: { readonly done: number; readonly hits: number; readonly leaseMs: number },
): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    UPDATE hotlist_look_backs SET done = ${done}, hits = ${hits},
      due_at = now() + make_interval(secs => ${leaseMs / 1000}::float8)
    WHERE id = ${id}::uuid AND attempts = ${attempts} AND due_at IS NOT NULL`);
  return (rowCount ?? 0) > 0;
}

/** Ends a pass. @param nextMs when the next one begins, if there is one, in milliseconds from now */
export async function finishLookBack(
  db: Executor,
  { id, attempts }: LookBackRow,
  nextMs: number,
): Promise<void> {
  await db.execute(sql`
    UPDATE hotlist_look_backs SET passes_left = greatest(passes_left - 1, 0),
      state = CASE WHEN passes_left > 0 THEN 'WAITING' ELSE 'DONE' END,
      due_at = CASE WHEN passes_left > 0 THEN now() + make_interval(secs => ${nextMs / 1000}::float8) END,
      finished_at = CASE WHEN passes_left = 0 THEN now() END
    WHERE id = ${id}::uuid AND attempts = ${attempts} AND due_at IS NOT NULL`);
}

export async function failLookBack(
  db: Executor,
  { id, attempts }: LookBackRow,
  error: string,
): Promise<void> {
  await db.execute(sql`
    UPDATE hotlist_look_backs SET state = 'FAILED', error = ${error}, finished_at = now(), due_at = NULL
    WHERE id = ${id}::uuid AND attempts = ${attempts} AND due_at IS NOT NULL`);
}

export async function hasDueLookBacks(db: Executor): Promise<boolean> {
  const { rows } = await db.execute<{ found: boolean }>(
    sql`SELECT EXISTS (SELECT FROM hotlist_look_backs WHERE due_at IS NOT NULL) AS found`,
  );
  return rows[0]?.found === true;
}

/** An event with a plate. */
export interface PlateEvent {
  readonly id: string;
  readonly plateKey: string;
  /** When it was stored, as PostgreSQL writes it. */
  readonly at: string;
}

/** Number of events that are read at once. */
export const EVENTS_AT_ONCE = 5_000;

/** The next events with a plate that were stored at or after a time, in the order in which they were. */
export async function pageOfRecentReads(
  db: Executor,
  from: { at: string; id: string },
): Promise<PlateEvent[]> {
  // Plan: events_by_creation.
  const { rows } = await db.execute<PlateEvent & Record<string, unknown>>(sql`
    SELECT id, plate_key AS "plateKey", created_at::text AS at FROM events
    WHERE (created_at, id) > (${from.at}::timestamptz, ${from.id}::uuid) AND plate_key IS NOT NULL
    ORDER BY created_at, id LIMIT ${EVENTS_AT_ONCE}`);
  return rows;
}

/** The next events whose plates have one of the keys, in the order of their time. */
export async function pageOfReads(
  db: Executor,
  keys: readonly string[],
  { after, from, until }: { readonly after: string; readonly from: number; readonly until: number },
): Promise<string[]> {
  // Plan: events_by_plate.
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT id FROM events WHERE plate_key = ANY (${textArray(keys, (key) => key)}::text[])
      AND id >= ${firstIdAt(from)}::uuid AND id < ${firstIdAt(until)}::uuid AND id > ${after}::uuid
    ORDER BY id LIMIT 500`);
  return rows.map(({ id }) => id);
}

/** The plates of entries in force, in the order of the ids. */
export async function findPlateKeys(
  db: Executor,
  hotlistId: string,
  ids: readonly string[],
): Promise<{ plateKey: string }[]> {
  const { rows } = await db.execute<{ plateKey: string }>(sql`
    SELECT plate_key AS "plateKey" FROM hotlist_entries JOIN hotlists ON hotlists.id = hotlist_id
    WHERE hotlist_id = ${hotlistId}::uuid AND ${IN_FORCE} AND hotlist_entries.id = ANY (${uuidArray(ids, (id) => id)}::uuid[])`);
  return rows;
}

export async function toLookBacks(db: Executor, rows: readonly LookBackRow[]): Promise<HotlistLookBack[]> {
  const nameOf = await findNames(
    db,
    rows.map((row) => row.requested_by),
  );
  return rows.map((row) => ({
    id: row.id,
    hotlistId: row.hotlist_id,
    kind: row.kind,
    state: row.state,
    startsAt: new Date(row.starts_at),
    endsAt: new Date(row.ends_at),
    plates: row.plates,
    done: row.done,
    hits: row.hits,
    error: row.error,
    requestedBy: nameOf(row.requested_by),
    createdAt: new Date(row.created_at),
    finishedAt: row.finished_at === null ? null : new Date(row.finished_at),
  }));
}
