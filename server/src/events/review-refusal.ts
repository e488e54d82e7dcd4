import type { ReviewDecision } from '@gantry/contract/reviews';
import { UNDO_MINUTES } from '@gantry/contract/values';
import { AppError } from '../platform/error.ts';

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
export function reviewedRefusal({ who, what, at }: Obstacle, now: number): AppError {
  const words = { ...done, ...others }[what];
  const when = at === null ? '' : ` ${ageOf(now - at.getTime())} ago (${at.toISOString()})`;
  return new AppError('conflict', `${who ?? 'Somebody'} ${words}${when}: reload it before you review it`);
}

/** @param who the author of the review */
export function notAuthorRefusal(who: string): AppError {
  return new AppError('forbidden', `Only ${who} can undo this review: review the event again instead`);
}

/** The review was undone already. @param at when */
export function undoneRefusal(at: Date): AppError {
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
export function tooLateRefusal(at: Date): AppError {
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
