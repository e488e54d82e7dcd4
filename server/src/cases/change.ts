import { type CaseMove, caseStateAfter } from '@gantry/contract/case-states';
import type { CaseAction, CaseSummary } from '@gantry/contract/cases';
import type { SQL } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { type ActivityAction, recordActivity } from '../activity/store.ts';
import type { ImageServices } from '../images/start.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import type { Transaction } from '../platform/database/transaction.ts';
import { AppError } from '../platform/error.ts';
import { type Outbox, publish } from '../realtime/publish.ts';
import { appendLog } from './items-store.ts';
import { type CaseRow, lockCase, type NewCase, showCase, updateCase } from './store.ts';

// How a case changes: always in one transaction with its log, the activity log and the message to subscribers.

export type CaseContext = ActorContext<Core & ImageServices & { readonly outbox: Outbox }>;

/** Appends to the log of a case that is locked, and tells subscribers and webhooks. @param userId null: the service, by a rule */
export async function recordCase(
  app: { readonly outbox: Outbox },
  tx: Transaction,
  row: CaseRow,
  userId: string | null,
  action: CaseAction,
  details: Record<string, unknown>,
): Promise<CaseSummary> {
  const { at } = await appendLog(tx, row.id, { userId, action, details });
  const nameOf = await findNames(tx, [userId]);
  const shown = await showCase(tx, row);
  await publish(app, tx, [{ topic: 'cases', body: { action, case: shown, by: nameOf(userId), at } }]);
  return shown;
}

/** Which case to change, and the version of it that the caller saw. */
export interface WantedCase {
  /** The id or the number. */
  readonly id: string;
  readonly expectedVersion?: number | undefined;
}

/** A case that is locked for a move. */
export type LockedCase = CaseRow & {
  /** The state after the move. */
  readonly next: CaseRow['state'];
};

/** Locks a case for a move. @throws AppError `notFound`; `conflict` when it has another version, or its state does not allow the move */
export async function lockForMove(
  tx: Transaction,
  { id, expectedVersion }: WantedCase,
  move: CaseMove,
): Promise<LockedCase> {
  const row = await lockCase(tx, id);
  const next = caseStateAfter(move, row.state, row.closedAt !== null);
  if (next === null) throw await refusal(tx, row, move);
  if (expectedVersion !== undefined && expectedVersion !== row.version)
    throw new AppError(
      'conflict',
      `Case ${row.number} has version ${row.version} now: reload it before you change it`,
    );
  return { ...row, next };
}

const WORDS: Readonly<Record<CaseMove, string>> = {
  addItem: 'nothing can be added to it',
  measure: 'it can no longer be measured',
  check: 'only a NEW case is checked',
  verify: 'only a CHECKED case is verified',
  reject: 'only a case that is NEW or CHECKED is rejected',
  dispute: 'only a CHECKED case is disputed',
  uphold: 'only a DISPUTED case is decided',
  overrule: 'only a DISPUTED case is decided',
  unlock: 'only a case that is VERIFIED or EXPORTED is unlocked',
  export: 'only a case that is VERIFIED or EXPORTED is exported',
  close: 'only a case that is VERIFIED, EXPORTED or REJECTED is closed',
};

async function refusal(tx: Transaction, row: CaseRow, move: CaseMove): Promise<AppError> {
  if (row.closedAt !== null && move !== 'export')
    return new AppError('conflict', `Case ${row.number} was closed at ${row.closedAt.toISOString()}`);
  const last = row.state === 'CHECKED' ? row.firstBy : (row.decidedBy ?? row.secondBy ?? row.firstBy);
  const by = (await findNames(tx, [last]))(last)?.name;
  const who = row.state === 'NEW' || by === undefined ? '' : `, by ${by}`;
  return new AppError('conflict', `Case ${row.number} is ${row.state} now${who}: ${WORDS[move]}`);
}

/** A change of a case that is locked. */
interface CaseChangeOf {
  readonly action: CaseAction;
  readonly activity: ActivityAction;
  readonly fields?: Partial<Omit<NewCase, 'version'>>;
  readonly details?: Record<string, unknown>;
  /** A further condition, which the database checks. */
  readonly only?: SQL;
}

/** Changes a case and records that. @throws AppError `conflict` when the further condition is not met */
export async function changeCase(
  { app, actor, caller }: CaseContext,
  tx: Transaction,
  before: CaseRow,
  { action, activity, fields = {}, details = {}, only }: CaseChangeOf,
): Promise<CaseSummary> {
  const after = await updateCase(tx, before, fields, only);
  if (!after)
    throw new AppError(
      'conflict',
      `Case ${before.number} was changed meanwhile: reload it before you change it`,
    );
  await recordActivity(tx, actor.id, caller, activity, { caseId: after.id, case: after.number, ...details });
  return recordCase(app, tx, after, actor.id, action, details);
}
