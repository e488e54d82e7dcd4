import type {
  AcceptShiftInput,
  CloseShiftInput,
  HandOverShiftInput,
  Shift,
  ShiftDetail,
  ShiftSummary,
  StartShiftInput,
} from '@gantry/contract/shifts';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext } from '../platform/context.ts';
import { type Executor, inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import {
  endShiftRow,
  findInactive,
  findOpenShifts,
  getShift,
  insertShift,
  readSummary,
  storeSummary,
} from './shifts-store.ts';
import { takeSnapshot } from './snapshot-store.ts';

/** A shift with what it handed over. @throws AppError `notFound` */
export async function getShiftDetail(db: Executor, id: string): Promise<ShiftDetail> {
  const shift = await getShift(db, id);
  return { ...shift, ...(await readSummary(db, shift.id)) };
}

/** Those on duty besides the lead, each once. @throws AppError `badRequest` for one who is no active user */
async function membersOf(tx: Transaction, ids: readonly string[], leadId: string): Promise<string[]> {
  const [unknown] = await findInactive(tx, ids);
  if (unknown !== undefined)
    throw invalidInput('memberIds', `There is no active user with the id ${unknown}`);
  return [...new Set(ids.map((id) => id.toLowerCase()))].filter((id) => id !== leadId);
}

async function begin(
  tx: Transaction,
  { actor }: ActorContext,
  given: { readonly desk: string; readonly memberIds: readonly string[]; readonly previousId: string | null },
): Promise<ShiftDetail> {
  const memberIds = await membersOf(tx, given.memberIds, actor.id);
  const id = await insertShift(tx, { ...given, memberIds, leadId: actor.id });
  if (id !== null) return getShiftDetail(tx, id);
  const [open] = await findOpenShifts(tx, given.desk);
  throw new AppError(
    'conflict',
    open
      ? `${open.lead.name} has led the shift of ${open.desk} since ${open.startedAt.toISOString()}: accept it once it is handed over`
      : 'The shift of this desk has just ended: try again',
  );
}

/** Starts a shift that the user leads. @throws AppError `conflict` while one of the desk has not ended */
export function startShift(ctx: ActorContext, { desk, memberIds }: StartShiftInput): Promise<ShiftDetail> {
  const { app, actor, caller } = ctx;
  return inTransaction(app.db, async (tx) => {
    const shift = await begin(tx, ctx, { desk, memberIds, previousId: null });
    await recordActivity(tx, actor.id, caller, 'shifts.start', { shiftId: shift.id, desk: shift.desk });
    return shift;
  });
}

/** What a shift would hand over now. @throws AppError `notFound`; `conflict` if it has handed over already */
export async function prepareShift(
  { app }: ActorContext,
  id: string,
): Promise<{ shift: Shift; summary: ShiftSummary }> {
  const shift = await getShift(app.db, id);
  requireState(shift, 'OPEN');
  return { shift, summary: await takeSnapshot(app.db, app.clock.now()) };
}

/** @throws AppError `conflict`, with who was faster, unless the shift is in the state */
function requireState(shift: Shift, wanted: 'OPEN' | 'HANDED_OVER'): void {
  const { state, handedOverAt, handedOverBy, endedAt, acceptedBy, closedBy } = shift;
  if (state === wanted) return;
  if (state === 'ENDED') {
    const who = acceptedBy ? `${acceptedBy.name} accepted` : `${closedBy?.name} closed`;
    throw new AppError('conflict', `${who} this shift at ${endedAt?.toISOString()}`);
  }
  throw new AppError(
    'conflict',
    state === 'HANDED_OVER'
      ? `${handedOverBy?.name} handed this shift over at ${handedOverAt?.toISOString()}`
      : 'This shift has not been handed over yet: shifts.handOver does that',
  );
}

/**
 * Hands a shift over: stores what is open now, which never changes afterwards, and waits for another person.
 * @throws AppError `notFound`; `conflict` if it was handed over or has ended
 */
export function handOverShift(
  { app, actor, caller }: ActorContext,
  { id, remarks }: HandOverShiftInput,
): Promise<ShiftDetail> {
  return inTransaction(app.db, async (tx) => {
    const shift = await getShift(tx, id, 'lock');
    requireState(shift, 'OPEN');
    const summary = await takeSnapshot(tx, app.clock.now());
    await storeSummary(tx, shift.id, { userId: actor.id, remarks, summary });
    await recordActivity(tx, actor.id, caller, 'shifts.handOver', { shiftId: shift.id, desk: shift.desk });
    return getShiftDetail(tx, shift.id);
  });
}

/**
 * Accepts what a shift handed over: it ends, and one that the user leads begins. If several users do so at the same time,
 * one succeeds, and the others receive an error with that user's name.
 * @returns the shift that begins
 * @throws AppError `notFound`; `forbidden` for who handed it over; `conflict` if it was not handed over, or has ended
 */
export function acceptShift(ctx: ActorContext, { id, memberIds }: AcceptShiftInput): Promise<ShiftDetail> {
  const { app, actor, caller } = ctx;
  return inTransaction(app.db, async (tx) => {
    const former = await getShift(tx, id, 'lock');
    requireState(former, 'HANDED_OVER');
    if (former.handedOverBy?.id === actor.id)
      throw new AppError('forbidden', 'You handed this shift over, so another person must accept it');
    await endShiftRow(tx, former.id, { acceptedBy: actor.id });
    const next = await begin(tx, ctx, { desk: former.desk, memberIds, previousId: former.id });
    const details = { shiftId: former.id, desk: former.desk, nextId: next.id };
    await recordActivity(tx, actor.id, caller, 'shifts.accept', details);
    return next;
  });
}

/** Ends a shift that nobody takes over, for a reason. @throws AppError `notFound`; `conflict` if it has ended */
export function closeShift(
  { app, actor, caller }: ActorContext,
  { id, reason }: CloseShiftInput,
): Promise<ShiftDetail> {
  return inTransaction(app.db, async (tx) => {
    const shift = await getShift(tx, id, 'lock');
    if (shift.state === 'ENDED') requireState(shift, 'OPEN');
    await endShiftRow(tx, shift.id, { closedBy: actor.id, reason });
    await recordActivity(tx, actor.id, caller, 'shifts.close', {
      shiftId: shift.id,
      desk: shift.desk,
      reason,
    });
    return getShiftDetail(tx, shift.id);
  });
}
