import type { CaseMove } from '@gantry/contract/case-states';
import type {
  CaseSummary,
  CheckCaseInput,
  CloseCaseInput,
  DecideCaseInput,
  ReasonedCaseInput,
  RejectCaseInput,
} from '@gantry/contract/cases';
import { sql } from 'drizzle-orm';
import { endHold } from '../events/holds-store.ts';
import { readDatabaseTime } from '../platform/database/moment.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { type CaseContext, changeCase, type LockedCase, lockForMove } from './change.ts';
import type { Judgement } from './checks.ts';
import { listItems, replaceCertificates } from './items-store.ts';
import { judgeCase, readImages } from './judge.ts';
import { type CaseRow, mayBeSecond, type NewCase } from './store.ts';

// What people decide about a case. The states are those of contract/src/case-states.

interface Judging {
  readonly move: CaseMove;
  /** Refuses users who may not make the move. */
  readonly allow?: (row: CaseRow) => void;
  /** @param at the time of the move */
  readonly work: (tx: Transaction, row: LockedCase, found: Judgement, at: Date) => Promise<CaseSummary>;
}

/**
 * Locks a case and judges it anew; its certificates are replaced by those that cover its time. All its images are read before, because that takes long.
 * @throws AppError as `lockForMove` and `allow`; `conflict` when somebody changed the case meanwhile, or a check cannot be
 * overridden; `badRequest` where a reason is missing
 */
async function judged(
  { app }: CaseContext,
  input: CheckCaseInput,
  { move, allow = () => undefined, work }: Judging,
): Promise<CaseSummary> {
  const lock = async (tx: Transaction): Promise<LockedCase> => {
    const row = await lockForMove(tx, input, move);
    allow(row);
    return row;
  };
  const before = await inTransaction(app.db, lock);
  const damaged = await readImages(app.images, app.db, before);
  return inTransaction(app.db, async (tx) => {
    const row = await lock(tx);
    if (row.version !== before.version)
      throw new AppError(
        'conflict',
        `Case ${row.number} was changed meanwhile: reload it before you change it`,
      );
    const found = await judgeCase(tx, row, await listItems(tx, row.id), {
      ...{ zone: app.settings.current().timezone, damaged },
    });
    requireReason(row, found, input.reason);
    await replaceCertificates(tx, row.id, found.covering);
    return work(tx, row, found, new Date(await readDatabaseTime(tx)));
  });
}

/** @throws AppError `conflict` for what cannot be overridden; `badRequest` where a reason is missing */
function requireReason({ number }: CaseRow, { checks }: Judgement, reason: string | null): void {
  const failed = checks.filter(({ result }) => result === 'FAIL');
  const blocking = failed.find(({ blocks }) => blocks);
  if (blocking)
    throw new AppError('conflict', `Case ${number} cannot go on, ${blocking.name}: ${blocking.message}`);
  if (failed.length > 0 && reason === null)
    throw invalidInput(
      'reason',
      `Say why the case goes on although ${failed.map(({ name, message }) => `${name} failed (${message})`).join(', ')}`,
    );
}

function judgementFields({ checks, covering: _, ...figures }: Judgement, at: Date) {
  return { ...figures, checks: [...checks], checkedAt: at };
}

function judgementDetails({ checks }: Judgement, reason: string | null) {
  const results = Object.fromEntries(checks.map(({ name, result }) => [name, result]));
  return { checks: results, ...(reason !== null && { reason }) };
}

/** Checks a case, and stores what speaks for and against it. @throws AppError as `judged` */
export function checkCase(ctx: CaseContext, input: CheckCaseInput): Promise<CaseSummary> {
  return judged(ctx, input, {
    move: 'check',
    work: (tx, row, found, at) =>
      changeCase(ctx, tx, row, {
        ...{ action: 'checked', activity: 'cases.check', details: judgementDetails(found, input.reason) },
        fields: { state: row.next, firstBy: ctx.actor.id, firstAt: at, ...judgementFields(found, at) },
      }),
  });
}

/** Verifies a case that another person checked. It is judged anew, and locked. @throws AppError as `judged`; `forbidden` */
export function verifyCase(ctx: CaseContext, input: CheckCaseInput): Promise<CaseSummary> {
  const { actor } = ctx;
  return judged(ctx, input, {
    move: 'verify',
    allow: ({ needsSecond, firstBy, number }) => {
      if (needsSecond && firstBy === actor.id)
        throw new AppError('forbidden', `You checked case ${number}, so another person must verify it`);
    },
    work: (tx, row, found, at) =>
      changeCase(ctx, tx, row, {
        ...{ action: 'verified', activity: 'cases.verify', details: judgementDetails(found, input.reason) },
        fields: {
          ...{ state: row.next, secondBy: actor.id, secondAt: at, lockedAt: at },
          ...judgementFields(found, at),
        },
        only: sql`state = 'CHECKED' AND ${mayBeSecond(actor.id)}`,
      }),
  });
}

/** Rejects a case that is not verified. @throws AppError as `lockForMove` */
export function rejectCase(ctx: CaseContext, input: RejectCaseInput): Promise<CaseSummary> {
  return inTransaction(ctx.app.db, async (tx) => {
    const row = await lockForMove(tx, input, 'reject');
    const { code, text } = input;
    const at = new Date(await readDatabaseTime(tx));
    return changeCase(ctx, tx, row, {
      ...{ action: 'rejected', activity: 'cases.reject', details: { code, ...(text !== null && { text }) } },
      fields: { state: row.next, code, codeText: text, decidedBy: ctx.actor.id, decidedAt: at },
    });
  });
}

/** Disagrees with the person who checked a case. @throws AppError as `lockForMove`; `forbidden` */
export function disputeCase(ctx: CaseContext, input: ReasonedCaseInput): Promise<CaseSummary> {
  const { actor } = ctx;
  return inTransaction(ctx.app.db, async (tx) => {
    const row = await lockForMove(tx, input, 'dispute');
    if (row.firstBy === actor.id)
      throw new AppError('forbidden', `You checked case ${row.number}, so another person must dispute it`);
    const at = new Date(await readDatabaseTime(tx));
    return changeCase(ctx, tx, row, {
      ...{ action: 'disputed', activity: 'cases.dispute', details: { reason: input.reason } },
      fields: { state: row.next, secondBy: actor.id, secondAt: at },
      only: sql`first_by <> ${actor.id}::uuid`,
    });
  });
}

/** Decides about a dispute as a third person. @throws AppError as `lockForMove` and `judged`; `forbidden` */
export function decideCase(ctx: CaseContext, input: DecideCaseInput): Promise<CaseSummary> {
  const { decision, code, text, reason } = input;
  const { id } = ctx.actor;
  const allow = ({ firstBy, secondBy, number }: CaseRow): void => {
    if (firstBy === id || secondBy === id)
      throw new AppError(
        'forbidden',
        `You checked or disputed case ${number}, so another person must decide`,
      );
  };
  if (decision === 'VERIFIED') {
    const work: Judging['work'] = (tx, row, found, at) => {
      const fields = { ...judgementFields(found, at), lockedAt: at };
      return decideLocked(ctx, tx, row, { at, fields, details: judgementDetails(found, reason) });
    };
    return judged(ctx, input, { move: 'uphold', allow, work });
  }
  return inTransaction(ctx.app.db, async (tx) => {
    const row = await lockForMove(tx, input, 'overrule');
    allow(row);
    const at = new Date(await readDatabaseTime(tx));
    const fields = { code: code ?? null, codeText: text };
    return decideLocked(ctx, tx, row, {
      at,
      fields,
      details: { reason, code, ...(text !== null && { text }) },
    });
  });
}

/** The decision about a case that is locked. */
interface Decision {
  readonly at: Date;
  readonly fields: Partial<NewCase>;
  readonly details: Record<string, unknown>;
}

function decideLocked(
  ctx: CaseContext,
  tx: Transaction,
  row: LockedCase,
  { at, fields, details }: Decision,
): Promise<CaseSummary> {
  const { id } = ctx.actor;
  return changeCase(ctx, tx, row, {
    ...{ action: 'decided', activity: 'cases.decide', details: { decision: row.next, ...details } },
    fields: { ...fields, state: row.next, decidedBy: id, decidedAt: at },
    only: sql`first_by <> ${id}::uuid AND second_by <> ${id}::uuid`,
  });
}

/** Begins anew with a verified case. @throws AppError as `lockForMove` */
export function unlockCase(ctx: CaseContext, input: ReasonedCaseInput): Promise<CaseSummary> {
  return inTransaction(ctx.app.db, async (tx) => {
    const row = await lockForMove(tx, input, 'unlock');
    const nobody = {
      firstBy: null,
      firstAt: null,
      secondBy: null,
      secondAt: null,
      decidedBy: null,
      decidedAt: null,
    };
    return changeCase(ctx, tx, row, {
      ...{ action: 'unlocked', activity: 'cases.unlock', details: { from: row.state, reason: input.reason } },
      fields: { ...nobody, state: row.next, lockedAt: null, checks: null, checkedAt: null },
    });
  });
}

/** Closes a case, which releases its hold. @throws AppError as `lockForMove` */
export function closeCase(ctx: CaseContext, input: CloseCaseInput): Promise<CaseSummary> {
  const { actor } = ctx;
  return inTransaction(ctx.app.db, async (tx) => {
    const row = await lockForMove(tx, input, 'close');
    if (row.holdId !== null) await endHold(tx, row.holdId, actor.id);
    const at = new Date(await readDatabaseTime(tx));
    const details = input.reason === null ? {} : { reason: input.reason };
    return changeCase(ctx, tx, row, {
      ...{ action: 'closed', activity: 'cases.close', details },
      fields: { closedAt: at, closedBy: actor.id },
    });
  });
}
