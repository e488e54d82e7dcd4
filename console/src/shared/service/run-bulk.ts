import { GantryError, type GantryErrorCode } from '@gantry/client';
import { MAX_BATCH_ITEMS } from '@gantry/contract/values';

/** Default number of concurrent calls. */
const AT_ONCE = 4;
const MAX_WAIT_S = 30;

/** The progress of a bulk operation: the number of items done, and of all items. */
export interface BulkProgress {
  readonly done: number;
  readonly of: number;
}

/** An item that failed, and the error. */
export interface BulkFailure<Item> {
  readonly item: Item;
  readonly error: unknown;
}

interface BulkOptions<Item> {
  readonly items: readonly Item[];
  readonly act: (item: Item) => Promise<void>;
  /** Number of concurrent calls; 4 by default. */
  readonly atOnce?: number;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: BulkProgress) => void;
}

/** Calls `act` for every item, several at a time. A failure does not stop the others. @returns the items that failed */
export async function runBulk<Item>({
  items,
  act,
  atOnce = AT_ONCE,
  signal,
  onProgress,
}: BulkOptions<Item>): Promise<BulkFailure<Item>[]> {
  const failures: BulkFailure<Item>[] = [];
  const left = items.values();
  let done = 0;
  const work = async () => {
    // The workers share one iterator, so each takes the next remaining item.
    for (const item of left) {
      if (signal.aborted) return;
      await patiently(() => act(item), signal).catch((error: unknown) => failures.push({ item, error }));
      done += 1;
      onProgress({ done, of: items.length });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return failures;
}

/** Number of concurrent batches. It is low because each batch occupies several database connections of the service. */
const BATCHES_AT_ONCE = 2;
/** Target number of batches, so that progress is visible. A batch has at least `MIN_BATCH` items. */
const STEPS = 10;
const MIN_BATCH = 10;

interface BatchOptions<Item, Done extends object> {
  readonly items: readonly Item[];
  /** Sends one request for some items, and resolves to one entry for each, in the same order. */
  readonly act: (items: readonly Item[]) => Promise<readonly (Done | FailedItem)[]>;
  /** Called after each request with the items that succeeded. */
  readonly onDone: (done: readonly { readonly item: Item; readonly result: Done }[]) => void;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: BulkProgress) => void;
}

/**
 * Processes many items in few requests. It continues when the user opens another page of the console; the browser warns
 * before the console is closed or reloaded. @returns the items that failed, each with its error
 */
export async function runBatches<Item, Done extends object>({
  items,
  act,
  onDone,
  signal,
  onProgress,
}: BatchOptions<Item, Done>): Promise<BulkFailure<Item>[]> {
  const size = Math.min(MAX_BATCH_ITEMS, Math.max(MIN_BATCH, Math.ceil(items.length / STEPS)));
  const batches = Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  );
  const failures: BulkFailure<Item>[] = [];
  let done = 0;
  const warn = (event: Event) => event.preventDefault();
  addEventListener('beforeunload', warn);
  await runBulk({
    items: batches,
    atOnce: BATCHES_AT_ONCE,
    act: async (batch) => {
      try {
        const results = await act(batch);
        const succeeded: { item: Item; result: Done }[] = [];
        for (const [at, item] of batch.entries()) {
          const result = results[at];
          if (result === undefined) continue;
          if (isFailed(result)) failures.push({ item, error: errorOf(result) });
          else succeeded.push({ item, result });
        }
        onDone(succeeded);
      } catch (error) {
        if (isBusy(error)) throw error;
        for (const item of batch) failures.push({ item, error });
      }
      done += batch.length;
      onProgress({ done, of: items.length });
    },
    signal,
    onProgress: () => undefined,
  }).finally(() => removeEventListener('beforeunload', warn));
  return failures;
}

function isBusy(error: unknown): error is GantryError {
  return error instanceof GantryError && error.code === 'TOO_MANY_REQUESTS';
}

/** Repeats the call after the delay that the service requests, as long as it responds with TOO_MANY_REQUESTS. */
async function patiently(call: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isBusy(error) || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000 * Math.min(MAX_WAIT_S, error.retryAfter ?? 1)));
    }
  }
}

interface PageOfIds {
  readonly ids: readonly string[];
  readonly total: number;
}

/** Reads all pages of a list that does not change while it is read. @returns the ids, without duplicates */
export async function collectIds(
  load: (skip: number) => Promise<PageOfIds>,
  pageSize: number,
  signal: AbortSignal,
): Promise<string[]> {
  const first = await load(0);
  const found = new Set(first.ids);
  const skips: number[] = [];
  for (let skip = pageSize; skip < first.total; skip += pageSize) skips.push(skip);
  const act = async (skip: number) => {
    for (const id of (await load(skip)).ids) found.add(id);
  };
  const [failure] = await runBulk({ items: skips, act, signal, onProgress: () => undefined });
  if (failure) throw failure.error;
  return [...found];
}

/** A failed item in the response to a batch request. */
export interface FailedItem {
  readonly id: string;
  readonly error: { readonly code: string; readonly message: string };
}

/** Whether an item in the response to a batch request failed. */
export function isFailed(result: object): result is FailedItem {
  return 'error' in result;
}

/** The error of a failed item, as if the item had been a request of its own. */
export function errorOf({ error: { code, message } }: FailedItem): GantryError {
  return new GantryError(code as GantryErrorCode, message);
}
