import { MINUTE_MS } from '@gantry/contract/durations';
import type {
  EventHistory,
  RecordedReview,
  Review,
  ReviewDecision,
  ReviewEventInput,
} from '@gantry/contract/reviews';
import { UNDO_MINUTES } from '@gantry/contract/values';
import { findNames, type NameOf } from '../accounts/names-store.ts';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext } from '../platform/context.ts';
import { readDatabaseTime } from '../platform/database/moment.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, notFound } from '../platform/error.ts';
import {
  type Flag,
  type Flags,
  findLatestReviews,
  findReview,
  insertReview,
  isSameFlag,
  listReviews,
  lockFlags,
  type ReviewRow,
  requestCases,
  setFlags,
  setUndone,
  withdrawRequest,
} from './reviews-store.ts';
import { getEvent } from './store.ts';

/**
 * Records what an operator decided about an event, and marks the event accordingly. Concurrent reviews of one event
 * are stored one after another.
 * @throws AppError `notFound`; `conflict` when the latest review is not the expected one
 */
export function reviewEvent(
  { app, actor, caller }: ActorContext,
  { id, decision, reason, expected, expectedProcessed = false }: ReviewEventInput,
): Promise<Review> {
  return inTransaction(app.db, async (tx) => {
    const locked = await lockFlags(tx, id);
    if (!locked) throw notFound('Event');
    const { violationType, ...before } = locked;
    const [latest = null] = await findLatestReviews(tx, [id]);
    const now = await readDatabaseTime(tx);
    if (expected !== undefined) {
      const seen = { review: expected, processed: expectedProcessed };
      await requireSeen(tx, seen, { actorId: actor.id, latest, before, now });
    }
    const at = new Date(now);
    const after = flagsAfter(decision, before, latest, { by: actor.id, at: at.toISOString() });
    await setFlags(tx, id, { before, after });
    const row = { eventId: id, decision, reason, userId: actor.id, at, before, after };
    const created = await insertReview(tx, row);
    const details = { eventId: created.eventId, reviewId: created.id, decision, ...(reason && { reason }) };
    await recordActivity(tx, actor.id, caller, 'events.review', details);
    await requestOrWithdraw(tx, { id: created.eventId, violationType }, created);
    return showReview(created, await findNames(tx, [actor.id]));
  });
}

/**
 * Undoes the user's own latest review of an event. Flags that were changed after the review are kept.
 * @throws AppError `notFound`; `forbidden` when it is somebody else's; `conflict` when it was undone before, is no longer
 * the latest, or is too old
 */
export function undoReview({ app, actor, caller }: ActorContext, id: string): Promise<RecordedReview> {
  return inTransaction(app.db, async (tx) => {
    const eventId = (await findReview(tx, id))?.eventId ?? '';
    const current = await lockFlags(tx, eventId);
    // Read again under the lock, because a concurrent call may have changed it.
    const review = await findReview(tx, id);
    if (!current || !review) throw notFound('Review');
    const [latest] = await findLatestReviews(tx, [eventId]);
    const nameOf = await findNames(tx, [review.userId, latest?.userId ?? null]);
    const at = new Date(await readDatabaseTime(tx));
    if (review.userId !== actor.id) throw notAuthorRefusal(nameOf(review.userId)?.name ?? 'its author');
    if (review.undoneAt) throw undoneRefusal(review.undoneAt);
    if (latest && latest.id !== review.id) {
      const who = nameOf(latest.userId)?.name ?? null;
      throw reviewedRefusal({ who, what: latest.decision, at: latest.at }, at.getTime());
    }
    if (at.getTime() - review.at.getTime() > UNDO_MINUTES * MINUTE_MS) throw tooLateRefusal(review.at);
    await setFlags(tx, eventId, { before: current, after: flagsWithout(review, current) });
    await setUndone(tx, review.id, at);
    const [former] = await findLatestReviews(tx, [eventId]);
    await requestOrWithdraw(tx, { id: eventId, violationType: current.violationType }, former);
    const { decision } = review;
    await recordActivity(tx, actor.id, caller, 'events.undoReview', {
      eventId,
      reviewId: review.id,
      decision,
    });
    return recordedOf({ ...review, undoneAt: at }, nameOf);
  });
}

/**
 * Asks for a case about an event if its latest review confirms it, and otherwise takes that back.
 * @param latest undefined if none is left
 */
async function requestOrWithdraw(
  tx: Transaction,
  event: { readonly id: string; readonly violationType: string | null },
  latest: Pick<ReviewRow, 'decision' | 'userId'> | undefined,
): Promise<void> {
  if (latest?.decision === 'CONFIRMED') await requestCases(tx, [event], 'CONFIRMED', latest.userId);
  else await withdrawRequest(tx, event.id);
}

/** The latest review of each of these events that has one. */
export async function viewReviews({ app: { db } }: ActorContext, eventIds: readonly string[]) {
  const rows = await findLatestReviews(db, eventIds);
  const nameOf = await findNames(
    db,
    rows.map(({ userId }) => userId),
  );
  return { reviews: rows.map((row) => showReview(row, nameOf)) };
}

/** What people did with an event. @throws AppError `notFound` */
export async function viewEventHistory(
  { app: { db } }: ActorContext,
  id: string,
): Promise<Omit<EventHistory, 'incidentIds'>> {
  const { id: eventId, processedAt, processedBy, archivedAt, archivedBy } = await getEvent(db, id);
  const rows = await listReviews(db, eventId);
  const nameOf = await findNames(
    db,
    rows.map(({ userId }) => userId),
  );
  const reviews = rows.map((row) => recordedOf(row, nameOf));
  return { eventId, reviews, processedAt, processedBy, archivedAt, archivedBy };
}

/** The state of an event as a caller saw it. */
interface Seen {
  /** The latest review; null: none. */
  readonly review: string | null;
  /** Whether it was marked as processed, where there was no review. */
  readonly processed: boolean;
}

/** The present state of an event. */
interface Present {
  readonly actorId: string;
  readonly latest: ReviewRow | null;
  readonly before: Flags;
  readonly now: number;
}

/**
 * @throws AppError `conflict` when the event has changed since the caller saw it; the message says who changed it and
 * when
 */
async function requireSeen(
  tx: Transaction,
  seen: Seen,
  { actorId, latest, before, now }: Present,
): Promise<void> {
  const whoIs = async (userId: string | null) => (await findNames(tx, [userId]))(userId)?.name ?? null;
  if ((seen.review?.toLowerCase() ?? null) !== (latest?.id ?? null)) {
    if (latest) {
      const { userId, decision, at } = latest;
      throw reviewedRefusal({ who: await whoIs(userId), what: decision, at }, now);
    }
    const undone = await findReview(tx, seen.review ?? '');
    const who = await whoIs(undone?.userId ?? null);
    throw reviewedRefusal({ who, what: 'undid', at: undone?.undoneAt ?? null }, now);
  }
  const { processed } = before;
  if (latest) return;
  if (seen.processed) {
    if (processed) return;
    throw reviewedRefusal({ who: null, what: 'unmarked', at: null }, now);
  }
  if (!processed || processed.by === actorId) return;
  const at = processed.at === null ? null : new Date(processed.at);
  throw reviewedRefusal({ who: await whoIs(processed.by), what: 'processed', at }, now);
}

/** The flags that follow from a decision. It replaces the latest review, so flags that the latter set are not kept. */
function flagsAfter(decision: ReviewDecision, before: Flags, latest: ReviewRow | null, mark: Flag): Flags {
  const replaced = latest && { by: latest.userId, at: latest.at.toISOString() };
  const kept = (flag: Flag | null): Flag | null => (replaced && isSameFlag(flag, replaced) ? null : flag);
  const processed = kept(before.processed);
  const archived = kept(before.archived);
  return {
    processed: decision === 'SECOND_LOOK' ? processed : (processed ?? mark),
    archived: decision === 'REJECTED' ? (archived ?? mark) : archived,
  };
}

function flagsWithout({ before, after }: ReviewRow, current: Flags): Flags {
  const of = (flag: keyof Flags): Flag | null =>
    isSameFlag(current[flag], after[flag]) ? before[flag] : current[flag];
  return { processed: of('processed'), archived: of('archived') };
}

function showReview({ id, eventId, decision, reason, userId, at }: ReviewRow, nameOf: NameOf): Review {
  const by = nameOf(userId) ?? { id: userId, name: 'a former user' };
  return { id, eventId, decision, reason, by, at };
}

function recordedOf(row: ReviewRow, nameOf: NameOf): RecordedReview {
  return { ...showReview(row, nameOf), undoneAt: row.undoneAt };
}

/** What somebody did about an event, in words: "Dana Weber confirmed this event". */
const done: Record<ReviewDecision, string> = {
  CONFIRMED: 'confirmed this event',
  REJECTED: 'rejected this event',
  SECOND_LOOK: 'asked for a second look at this event',
};

const others = {
  undid: 'undid the review that you saw',
  processed: 'marked this event as processed',
  unmarked: 'took back that this event is processed',
} as const;

/** The state of the event that prevents a review. */
export interface Obstacle {
  /** null: that is not known. */
  readonly who: string | null;
  readonly what: ReviewDecision | keyof typeof others;
  /** null: that is not known. */
  readonly at: Date | null;
}

/** The refusal when another user has decided first. @param now Unix milliseconds, by the clock of the database */
function reviewedRefusal({ who, what, at }: Obstacle, now: number): AppError {
  const words = { ...done, ...others }[what];
  const when = at === null ? '' : ` ${ageOf(now - at.getTime())} ago (${at.toISOString()})`;
  return new AppError('conflict', `${who ?? 'Somebody'} ${words}${when}: reload it before you review it`);
}

/** @param who the author of the review */
function notAuthorRefusal(who: string): AppError {
  return new AppError('forbidden', `Only ${who} can undo this review: review the event again instead`);
}

/** The review was undone already. @param at when */
function undoneRefusal(at: Date): AppError {
  return new AppError('conflict', `This review was undone at ${at.toISOString()}`);
}

/** The refusal to undo the archiving of an event that another user, or a review, has archived. */
export function archivedRefusal(why: 'by another' | 'by a review', who: string | null): AppError {
  return new AppError(
    'conflict',
    why === 'by another'
      ? `This event was archived by ${who ?? 'somebody else'}: only they can take it back`
      : 'This event was archived by its rejection: undo the review instead',
  );
}

/** The time in which archiving can be undone is over. @param at when the event was archived */
export function tooLateToRestore(at: Date): AppError {
  return new AppError(
    'conflict',
    `Archiving can be undone for ${UNDO_MINUTES} min, and this event was archived at ${at.toISOString()}`,
  );
}

/** The time in which a review can be undone is over. @param at when it was made */
function tooLateRefusal(at: Date): AppError {
  return new AppError(
    'conflict',
    `A review can be undone for ${UNDO_MINUTES} min, and this one was made at ${at.toISOString()}: review the event again instead`,
  );
}

/** A duration since something happened, in short form: `3 s`, `5 min`, `2 h`, `4 d`. */
function ageOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}
