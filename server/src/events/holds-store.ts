import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import type { HoldDetail, LegalHold, ListHoldsInput, SetHoldInput } from '@gantry/contract/storage';
import { type SQL, sql } from 'drizzle-orm';
import { findNames, type NameOf } from '../accounts/names-store.ts';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext } from '../platform/context.ts';
import { locks, withShortWaits } from '../platform/database/locks.ts';
import { type Executor, inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, found, invalidInput } from '../platform/error.ts';
import { dayOf } from '../platform/time.ts';

/**
 * Puts events under a legal hold: neither users nor retention can remove them until it is released.
 * @throws AppError `badRequest` at `eventIds.<n>` when there is no such event; `unavailable` while a month is being
 * removed
 */
export function setHold(
  { app, actor, caller }: ActorContext,
  { eventIds, reason }: SetHoldInput,
): Promise<HoldDetail> {
  return inTransaction(app.db, async (tx) => {
    await lockWithTimeout(tx, lockOutRemovals);
    const wanted = eventIds.map((eventId) => eventId.toLowerCase());
    const types = await findEventTypes(tx, wanted.filter(isUuid));
    const missing = wanted.findIndex((eventId) => !types.has(eventId));
    if (missing !== -1) throw invalidInput(`eventIds.${missing}`, 'There is no such event');
    const holdId = await insertHold(tx, reason, actor.id);
    await addToHold(tx, holdId, types);
    await recordActivity(tx, actor.id, caller, 'storage.setHold', { holdId, reason, events: types.size });
    return getHold(tx, holdId);
  });
}

/**
 * Ends a hold. Its events can be removed unless another hold contains them.
 * @throws AppError `notFound`; `conflict` when it was released before, or is that of a case that is not closed
 */
export function releaseHold({ app, actor, caller }: ActorContext, id: string): Promise<HoldDetail> {
  return inTransaction(app.db, async (tx) => {
    const number = await findCaseHolding(tx, id);
    if (number !== null) {
      throw new AppError('conflict', `The hold is that of case ${number}: close the case to release it`);
    }
    const ended = await endHold(tx, id, actor.id);
    const hold = await getHold(tx, id);
    if (!ended) {
      const day = hold.releasedAt && dayOf(hold.releasedAt.getTime(), app.settings.current().timezone);
      throw new AppError('conflict', `The hold was released by ${hold.releasedBy?.name} on ${day}`);
    }
    await recordActivity(tx, actor.id, caller, 'storage.releaseHold', {
      holdId: hold.id,
      reason: hold.reason,
    });
    return hold;
  });
}

interface HoldRow extends Record<string, unknown> {
  id: string;
  reason: string;
  event_count: number;
  created_by: string | null;
  created_at: string;
  released_by: string | null;
  released_at: string | null;
}

const COLUMNS = sql`legal_holds.*,
  (SELECT count(*) FROM held_events WHERE hold_id = legal_holds.id) AS event_count`;

/** The rows of `held_events` whose hold is in effect. */
export const heldEvents = sql.raw(
  '(SELECT held_events.* FROM held_events JOIN legal_holds ON legal_holds.id = hold_id WHERE released_at IS NULL) AS held',
);

/**
 * Waits for holds that are being set, and lets none be set until the transaction ends. Call it before looking for
 * holds.
 */
export async function lockOutHolds(tx: Executor): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock_shared(${locks.holds})`);
}

/**
 * Takes the lock of `lockOutHolds` or `lockOutRemovals` for a call of a user, and limits the wait for it and for the
 * locks of later statements.
 * @throws AppError `unavailable` when it would have to wait for too long
 */
export function lockWithTimeout(tx: Transaction, lock: (tx: Executor) => Promise<void>): Promise<void> {
  const refusal = 'Events are being removed, or put under a legal hold, at the moment: try again in a minute';
  return withShortWaits(tx, refusal, () => lock(tx));
}

/**
 * Waits for transactions that remove events, and lets none begin until this one ends. Call it before events are put under a
 * hold.
 */
export async function lockOutRemovals(tx: Executor): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.holds})`);
}

/** @throws AppError `conflict` when the event is under a legal hold, with the day in a time zone since when */
export async function requireNotHeld(tx: Executor, eventId: string, zone: string): Promise<void> {
  if (!isUuid(eventId)) return;
  const { rows } = await tx.execute<HoldRow>(sql`
    SELECT ${COLUMNS} FROM legal_holds JOIN held_events ON hold_id = id
    WHERE event_id = ${eventId}::uuid AND released_at IS NULL ORDER BY created_at, id LIMIT 1`);
  const [hold] = await show(tx, rows);
  if (!hold) return;
  const since = dayOf(hold.createdAt.getTime(), zone);
  throw new AppError(
    'conflict',
    `The event is under a legal hold of ${hold.createdBy?.name ?? 'the service'} since ${since}: ${hold.reason}`,
  );
}

/** The ids of those of the events that are under a legal hold. */
export async function findHeld(db: Executor, eventIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.execute<{ event_id: string }>(
    sql`SELECT DISTINCT event_id FROM ${heldEvents} WHERE event_id = ANY (${sql.param(eventIds)}::uuid[])`,
  );
  return new Set(rows.map((row) => row.event_id));
}

/** The types of the given events by id; events that do not exist are left out. */
async function findEventTypes(
  db: Executor,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.execute<{ id: string; event_type: string }>(
    sql`SELECT id, event_type FROM events WHERE id = ANY (${sql.param(eventIds)}::uuid[])`,
  );
  return new Map(rows.map((row) => [row.id, row.event_type]));
}

/**
 * Begins a hold without events, in a transaction that has taken the lock of `lockOutRemovals`.
 * @param userId null: the service
 * @returns its id
 */
export async function insertHold(tx: Executor, reason: string, userId: string | null): Promise<string> {
  const { rows } = await tx.execute<{ id: string }>(
    sql`INSERT INTO legal_holds (reason, created_by) VALUES (${reason}, ${userId}::uuid) RETURNING id`,
  );
  if (!rows[0]) throw new Error('PostgreSQL did not return the inserted hold');
  return rows[0].id;
}

/** Puts events under a hold, by their types. */
export async function addToHold(
  tx: Executor,
  holdId: string,
  types: ReadonlyMap<string, string>,
): Promise<void> {
  await tx.execute(sql`
    INSERT INTO held_events (hold_id, event_id, event_type)
    SELECT ${holdId}::uuid, event_id, event_type FROM unnest(
      ${sql.param([...types.keys()])}::uuid[], ${sql.param([...types.values()])}::text[]
    ) AS one (event_id, event_type)
    ON CONFLICT DO NOTHING`);
}

/** The number of the case that is not closed and has the hold; null if there is none. */
async function findCaseHolding(db: Executor, holdId: string): Promise<string | null> {
  if (!isUuid(holdId)) return null;
  const { rows } = await db.execute<{ number: string }>(
    sql`SELECT number FROM cases WHERE hold_id = ${holdId}::uuid AND closed_at IS NULL`,
  );
  return rows[0]?.number ?? null;
}

/** Ends a hold. If several calls do so at the same time, one succeeds. @returns whether the hold was in effect */
export async function endHold(tx: Executor, id: string, userId: string): Promise<boolean> {
  if (!isUuid(id)) return false;
  const { rowCount } = await tx.execute(sql`
    UPDATE legal_holds SET released_at = now(), released_by = ${userId}::uuid
    WHERE id = ${id}::uuid AND released_at IS NULL`);
  return (rowCount ?? 0) > 0;
}

/** A hold with the events it contains. @throws AppError `notFound` */
export async function getHold(db: Executor, id: string): Promise<HoldDetail> {
  const { rows } = isUuid(id)
    ? await db.execute<HoldRow>(sql`SELECT ${COLUMNS} FROM legal_holds WHERE id = ${id}::uuid`)
    : { rows: [] };
  const hold = found(await show(db, rows), 'Hold');
  const { rows: events } = await db.execute<{ event_id: string }>(
    sql`SELECT event_id FROM held_events WHERE hold_id = ${id}::uuid ORDER BY event_id`,
  );
  return { ...hold, eventIds: events.map((row) => row.event_id) };
}

/** One page of the holds, newest first. */
export async function listHolds(db: Executor, input: ListHoldsInput): Promise<Page<LegalHold>> {
  const { rows } = await db.execute<HoldRow>(sql`
    SELECT ${COLUMNS} FROM legal_holds WHERE ${conditions(input)}
    ORDER BY created_at DESC, id DESC LIMIT ${input.take} OFFSET ${input.skip}`);
  const { rows: counted } = await db.execute<{ total: number }>(
    sql`SELECT count(*) AS total FROM legal_holds WHERE ${conditions(input)}`,
  );
  return { items: await show(db, rows), total: counted[0]?.total ?? 0 };
}

function holdOf(row: HoldRow, nameOf: NameOf): LegalHold {
  return {
    id: row.id,
    reason: row.reason,
    eventCount: row.event_count,
    createdAt: new Date(row.created_at),
    createdBy: nameOf(row.created_by),
    releasedAt: row.released_at === null ? null : new Date(row.released_at),
    releasedBy: nameOf(row.released_by),
  };
}

async function show(db: Executor, rows: readonly HoldRow[]): Promise<LegalHold[]> {
  const nameOf = await findNames(
    db,
    rows.flatMap((row) => [row.created_by, row.released_by]),
  );
  return rows.map((row) => holdOf(row, nameOf));
}

function conditions({ released, eventId }: ListHoldsInput): SQL {
  const inForce = released === undefined ? sql`true` : sql`(released_at IS NOT NULL) = ${released}`;
  if (eventId === undefined) return inForce;
  if (!isUuid(eventId)) return sql`false`;
  return sql`${inForce} AND id IN (SELECT hold_id FROM held_events WHERE event_id = ${eventId}::uuid)`;
}
