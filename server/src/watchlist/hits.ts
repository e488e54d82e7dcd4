import type {
  FollowHitsInput,
  Hit,
  HitChange,
  RejectionCode,
  SetHitOutcomeInput,
} from '@gantry/contract/hits';
import { type ActivityAction, recordActivity } from '../activity/store.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError } from '../platform/error.ts';
import { recordChanges } from '../realtime/changes-store.ts';
import { type FollowContext, follow, type StreamMessage } from '../realtime/follow.ts';
import { publish } from '../realtime/publish.ts';
import type { RealtimeServices } from '../realtime/start.ts';
import { findAlerts, lockAlertsOf } from './alerts-store.ts';
import { changesOfHits, type Decision, decideHit, getHit, maySeeHit, setOutcomeOf } from './hits-store.ts';

type HitContext = ActorContext<Core & Pick<RealtimeServices, 'outbox'>>;

/**
 * Confirms a hit, which releases it: from then on, everybody who may see alerts sees it, unless its list is covert.
 * @throws AppError `notFound`; `conflict` when somebody decided about it before, or it has expired
 */
export function confirmHit(ctx: HitContext, id: string, note: string | null): Promise<Hit> {
  return decide(ctx, id, { state: 'CONFIRMED', code: null, note, by: ctx.actor.id });
}

/**
 * Rejects a hit. The next read of the plate makes a new one.
 * @throws AppError as `confirmHit`
 */
export function rejectHit(
  ctx: HitContext,
  id: string,
  { code, note }: { code: RejectionCode; note: string | null },
): Promise<Hit> {
  return decide(ctx, id, { state: 'REJECTED', code, note, by: ctx.actor.id });
}

const ACTIVITY = { CONFIRMED: 'hits.confirm', REJECTED: 'hits.reject' } as const;

function decide(ctx: HitContext, id: string, decision: Decision): Promise<Hit> {
  const { app, actor } = ctx;
  return inTransaction(app.db, async (tx) => {
    const { id: hitId, entryId } = await getHit(tx, actor, id);
    // A read that is raised at the same time belongs to the hit as it was before, or as it is afterwards.
    await lockAlertsOf(tx, [entryId]);
    const decided = await decideHit(tx, hitId, decision);
    const hit = await getHit(tx, actor, hitId);
    if (!decided) throw decidedBefore(hit);
    await recordDecision(ctx, tx, ACTIVITY[decision.state], hit, { code: decision.code });
    await recordChanges(tx, await changesOfHits(tx, decision.state, [hitId]));
    if (!decided.wasReleased && hit.kind === 'LIVE') {
      const released = await findAlerts(tx, hit.releasedAt === null ? [] : [hitId]);
      await publish(
        app,
        tx,
        released.map((body) => ({ topic: 'watchlist', body })),
      );
    }
    return hit;
  });
}

function decidedBefore({ state, decidedBy, decidedAt }: Hit): AppError {
  const at = decidedAt?.toISOString();
  if (state === 'EXPIRED')
    return new AppError('conflict', `This hit expired at ${at}: nobody decided in time`);
  const did = state === 'CONFIRMED' ? 'confirmed' : 'rejected';
  return new AppError('conflict', `${decidedBy?.name ?? 'Somebody'} ${did} this hit at ${at}`);
}

/**
 * Sets what became of a confirmed hit, once; a correction keeps the former outcome in the history.
 * @throws AppError `notFound`; `conflict` when the hit is not confirmed, or has an outcome that is not to be corrected
 */
export function setHitOutcome(
  ctx: HitContext,
  { id, outcome, note, correct }: SetHitOutcomeInput,
): Promise<Hit> {
  const { app, actor } = ctx;
  return inTransaction(app.db, async (tx) => {
    const before = await getHit(tx, actor, id);
    const isSet = await setOutcomeOf(tx, before.id, { outcome, note, by: actor.id, isCorrection: correct });
    const hit = await getHit(tx, actor, id);
    if (!isSet) throw outcomeRefusal(hit);
    await recordDecision(ctx, tx, 'hits.setOutcome', hit, { outcome });
    await recordChanges(tx, await changesOfHits(tx, 'OUTCOME', [hit.id]));
    return hit;
  });
}

function outcomeRefusal({ state, outcome, outcomeBy, outcomeAt }: Hit): AppError {
  return new AppError(
    'conflict',
    state === 'CONFIRMED'
      ? `${outcomeBy?.name ?? 'Somebody'} set the outcome ${outcome} at ${outcomeAt?.toISOString()}: set \`correct\` to replace it`
      : 'Only a confirmed hit has an outcome: confirm it first',
  );
}

function recordDecision(
  { actor, caller }: HitContext,
  tx: Transaction,
  action: ActivityAction,
  { id, hotlist, entryId, licensePlateNumber: plate }: Hit,
  more: Record<string, unknown>,
): Promise<void> {
  const details = { hitId: id, hotlistId: hotlist.id, hotlist: hotlist.name, entryId, plate, ...more };
  return recordActivity(tx, actor.id, caller, action, details);
}

/** Whether the user may see a change of a hit that is streamed. */
export function maySeeChange(ctx: Pick<FollowContext, 'actor'>, { hit }: HitChange): boolean {
  return maySeeHit(ctx.actor, hit);
}

/** Streams new hits, further reads of them and decisions, as far as the user may see them. @throws AppError as `follow` does */
export function followHits(
  ctx: FollowContext,
  { hotlistId, state, kind, priority, lastEventId }: FollowHitsInput,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage<'hits'>> {
  const list = hotlistId?.toLowerCase();
  const matches = (change: HitChange): boolean =>
    maySeeChange(ctx, change) &&
    (list === undefined || change.hit.hotlist.id === list) &&
    (state === undefined || change.hit.state === state) &&
    (kind === undefined || change.hit.kind === kind) &&
    (priority === undefined || change.hit.priority === priority);
  return follow(ctx, { topics: ['hits'], matches, lastEventId }, signal);
}
