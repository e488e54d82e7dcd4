import type { Review } from '@gantry/contract/reviews';
import { type FailedItem, isFailed } from '../../service/batch.ts';
import { api } from '../../service/service.ts';
import type { ReviewedEvent } from '../triage/row-states.ts';
import { seenOf } from '../triage/use-triage.ts';
import type { BulkAction } from './use-bulk.ts';

/** What a command did to one event. */
export interface Done {
  /** What its row shows now. */
  readonly known: {
    readonly review?: Review;
    readonly processed?: boolean;
    readonly archived?: boolean;
    readonly isGone?: boolean;
  };
  /** By what it is undone: the id of the review or of the event; null: there is nothing to undo. */
  readonly undoId: string | null;
}

/** An event that a command changed, for the undo. */
export interface Changed {
  readonly id: string;
  readonly undoId: string;
  /** Its row before, if it was loaded. */
  readonly before: ReviewedEvent | undefined;
}

type Command = (ids: readonly string[]) => Promise<readonly (Done | FailedItem)[]>;

/**
 * The call that does something to some events.
 * @param seen the row as the user saw it. An event that was not seen is not taken from somebody who decided about it
 */
export function commandOf(
  action: BulkAction,
  reason: string | null,
  seen: (id: string) => ReviewedEvent | undefined,
): Command {
  switch (action) {
    case 'delete':
      return async (ids) =>
        each((await api.events.deleteBatch.mutate({ ids: [...ids] })).results, () => ({
          known: { isGone: true },
          undoId: null,
        }));
    case 'archive':
      return async (ids) =>
        each((await api.events.archiveBatch.mutate({ ids: [...ids] })).results, ({ id, changed }) => ({
          known: { archived: true },
          undoId: changed ? id : null,
        }));
    default:
      return async (ids) => {
        const events = ids.map((id) => ({ id, ...seenOf(seen(id)) }));
        const { results } = await api.events.reviewBatch.mutate({ events, decision: action, reason });
        return each(results, ({ review }) => ({
          known: { review, processed: true, ...(action === 'REJECTED' && { archived: true }) },
          undoId: review.id,
        }));
      };
  }
}

/** The call that undoes it for some of them. */
export function undoOf(
  action: BulkAction,
): (changed: readonly Changed[]) => Promise<readonly (object | FailedItem)[]> {
  return async (changed) => {
    const ids = changed.map(({ undoId }) => undoId);
    const { results } =
      action === 'archive'
        ? await api.events.undoArchiveBatch.mutate({ ids })
        : await api.events.undoReviewBatch.mutate({ ids });
    return results;
  };
}

/** Failures as they are, and what was done for the others. */
function each<Result extends object>(
  results: readonly Result[],
  done: (result: Exclude<Result, FailedItem>) => Done,
): readonly (Done | FailedItem)[] {
  return results.map((result) => (isFailed(result) ? result : done(result as Exclude<Result, FailedItem>)));
}
