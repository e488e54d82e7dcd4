import type { Review } from '@gantry/contract/reviews';
import { type FailedItem, isFailed } from '../../../shared/service/run-bulk.ts';
import { api } from '../../../shared/service/service.ts';
import type { ReviewedEvent } from '../triage/row-states.ts';
import { seenOf } from '../triage/use-triage.ts';

export type BulkAction = 'CONFIRMED' | 'REJECTED' | 'archive' | 'delete';

/** The result of a command for one event. */
export interface Done {
  /** The new state to show in the row. */
  readonly known: {
    readonly review?: Review;
    readonly processed?: boolean;
    readonly archived?: boolean;
    readonly isGone?: boolean;
  };
  /** The id to undo the change by, which is that of the review or the event; null if there is nothing to undo. */
  readonly undoId: string | null;
}

/** An event that a command changed, kept so that the change can be undone. */
export interface Changed {
  readonly id: string;
  readonly undoId: string;
  /** The row before the change, if it was loaded. */
  readonly before: ReviewedEvent | undefined;
}

type Command = (ids: readonly string[]) => Promise<readonly (Done | FailedItem)[]>;

/**
 * Returns the function that sends one request to apply an action to a batch of events.
 * @param seen returns the row as the user saw it, or undefined. An event that the user did not see is not reviewed
 *   (CONFLICT) if it has a review or is processed already
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

/** Returns the function that sends one request to undo an action for a batch of changed events. */
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

/** Keeps the failures and maps the other results with `done`. */
function each<Result extends object>(
  results: readonly Result[],
  done: (result: Exclude<Result, FailedItem>) => Done,
): readonly (Done | FailedItem)[] {
  return results.map((result) => (isFailed(result) ? result : done(result as Exclude<Result, FailedItem>)));
}
