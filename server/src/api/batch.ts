import { MAX_BATCH_ITEMS } from '@gantry/contract/values';
import pLimit from 'p-limit';
import type { RequestContext } from '../platform/context.ts';
import { unavailable } from '../platform/error.ts';
import { failureOf } from '../rpc/errors.ts';

/** The rules of `eachOf`, for the descriptions of procedures. */
export const EACH_BY_ITSELF = `Each of up to ${MAX_BATCH_ITEMS} succeeds or fails by itself, as in a call of its own; one that is repeated is processed once; the call fails as a whole, with SERVICE_UNAVAILABLE, only if none can be processed at the moment.`;

/** Maximum number of items of one call that are processed at once, so that connections remain for other callers. */
const AT_ONCE = 3;

/** Items that have not started after this many milliseconds are not attempted, so that the call is answered in time. */
const BEGIN_MS = 20_000;

/** An item that failed, and why. */
export interface FailedItem {
  readonly id: string;
  readonly error: { readonly code: string; readonly message: string };
}

/** Items that consist of an id only. */
export function itemsOf(ids: readonly string[]): { readonly id: string }[] {
  return ids.map((id) => ({ id }));
}

/**
 * Processes each item separately, so that one that fails does not affect the others. Items that are equal are processed
 * once, so that none is refused because of another.
 * @returns the results in the order of the items
 * @throws AppError `unavailable` when no item could be processed, and the whole call should be repeated
 */
export async function eachOf<Item extends { readonly id: string }, Done extends object>(
  ctx: RequestContext,
  items: readonly Item[],
  act: (item: Item) => Promise<Done>,
): Promise<(Done | FailedItem)[]> {
  const inTurn = pLimit(AT_ONCE);
  const until = performance.now() + BEGIN_MS;
  const attempt = async (item: Item): Promise<Done | FailedItem> => {
    try {
      if (performance.now() > until) throw unavailable('There was no time left for it: try again');
      return await act(item);
    } catch (error) {
      const { body, unexpected } = failureOf(error);
      if (unexpected)
        ctx.app.log.error({ err: error, requestId: ctx.caller.requestId }, 'an item of a batch failed');
      return { id: item.id, error: { code: body.data.code, message: body.message } };
    }
  };
  const attempts = new Map<string, Promise<Done | FailedItem>>();
  const attemptOnce = async (item: Item): Promise<Done | FailedItem> => {
    const key = JSON.stringify({ ...item, id: item.id.toLowerCase() });
    const attempted = attempts.get(key) ?? inTurn(() => attempt(item));
    attempts.set(key, attempted);
    return { ...(await attempted), id: item.id };
  };
  const results = await Promise.all(items.map(attemptOnce));
  if (results.every((result) => 'error' in result && result.error.code === 'SERVICE_UNAVAILABLE'))
    throw unavailable('Nothing could be done at the moment: try again');
  return results;
}
