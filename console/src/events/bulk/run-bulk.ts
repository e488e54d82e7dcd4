import { GantryError } from '@gantry/client';

/** Calls that are under way at once. */
const AT_ONCE = 4;
const MOST_WAIT_S = 30;

/** How far something that is done to many has come. */
export interface BulkProgress {
  readonly done: number;
  readonly of: number;
}

/** What could not be done, and why. */
export interface BulkFailure<Item> {
  readonly item: Item;
  readonly error: unknown;
}

interface BulkOptions<Item> {
  readonly items: readonly Item[];
  readonly act: (item: Item) => Promise<void>;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: BulkProgress) => void;
}

/** Does the same to many, four at a time. One that fails does not stop the others. @returns those that failed */
export async function runBulk<Item>({
  items,
  act,
  signal,
  onProgress,
}: BulkOptions<Item>): Promise<BulkFailure<Item>[]> {
  const failures: BulkFailure<Item>[] = [];
  const left = items.values();
  let done = 0;
  const work = async () => {
    // Each of the workers takes the next one that is left.
    for (const item of left) {
      if (signal.aborted) return;
      await patiently(() => act(item), signal).catch((error: unknown) => failures.push({ item, error }));
      done += 1;
      onProgress({ done, of: items.length });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failures;
}

/** Waits and calls again where the service asks to come back later. */
async function patiently(call: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const isBusy = error instanceof GantryError && error.code === 'TOO_MANY_REQUESTS';
      if (!isBusy || signal.aborted) throw error;
      await new Promise((resolve) =>
        setTimeout(resolve, 1000 * Math.min(MOST_WAIT_S, error.retryAfter ?? 1)),
      );
    }
  }
}

interface PageOfIds {
  readonly ids: readonly string[];
  readonly total: number;
}

/** Reads all pages of a list that does not change meanwhile. @returns the ids, each once */
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
