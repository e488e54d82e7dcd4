import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { EventRow } from '../events/event-row.ts';
import { keepLatest } from '../platform/caches.ts';
import { channels } from '../platform/database/notify.ts';
import { type Foundation, keepFresh } from '../platform/start.ts';
import { createHotlists, type Hotlists } from './hotlists.ts';
import { createPlateMatcher, isValidAt, type WatchedEntry } from './matching.ts';
import { loadActiveEntries } from './store.ts';

/** The watchlist in memory: it is used for every event with a plate and changes rarely. */
export interface Watchlist extends AsyncDisposable {
  /** The entries that match the plate of an event and are valid at its time. */
  match(row: EventRow): readonly WatchedEntry[];
  /**
   * Reads the list again. Resolves when all changes committed before the call apply, or when reading failed; then it
   * is retried.
   */
  refresh(): Promise<void>;
}

const RETRY_MS = 500;
const NONE: readonly WatchedEntry[] = [];

/** @param load reads the list from the database */
export async function createWatchlist(
  load: () => Promise<readonly WatchedEntry[]>,
  log: Logger,
): Promise<Watchlist> {
  const matcher = await keepLatest(async () => createPlateMatcher(await load()));
  let reading: Promise<void> = Promise.resolve();
  let rested: Promise<unknown> = reading;
  let queued: Promise<void> | null = null;
  let retry: NodeJS.Timeout | undefined;
  let ended = false;

  const read = async (): Promise<void> => {
    try {
      await matcher.refresh();
    } catch (err) {
      if (ended) return;
      log.warn({ err }, 'the watchlist could not be reloaded: trying again');
      clearTimeout(retry);
      retry = setTimeout(refresh, RETRY_MS).unref();
    }
  };

  const start = (): Promise<void> => {
    queued = null;
    const began = performance.now();
    reading = read();
    // A pause as long as the read took, so that a burst of changes to a long list leaves half of the time to events.
    rested = reading.then(() => sleep(performance.now() - began, undefined, { ref: false }));
    return reading;
  };

  // A read in progress may have started before the change. One more read after it serves all callers in the meantime.
  const refresh = (): Promise<void> => {
    queued ??= rested.then(start);
    return queued;
  };

  return {
    match(row) {
      if (row.plateKey === null || row.plateKey === '') return NONE;
      const found = matcher.current()(row.plateKey);
      return found.length === 0 ? found : found.filter((entry) => isValidAt(entry, row.time));
    },
    refresh,
    async [Symbol.asyncDispose]() {
      ended = true;
      clearTimeout(retry);
      await reading;
    },
  };
}

/** The services of this module. */
export interface WatchlistServices {
  readonly watchlist: Watchlist;
  readonly hotlists: Hotlists;
}

export async function startWatchlist(foundation: Foundation): Promise<WatchlistServices> {
  const { core, resources } = foundation;
  const watchlist = resources.use(await createWatchlist(() => loadActiveEntries(core.db), core.log));
  keepFresh(foundation, channels.watchlist, watchlist.refresh, 'the watchlist could not be reloaded');
  const hotlists = resources.use(createHotlists(core.db, core.log));
  keepFresh(foundation, channels.hotlists, hotlists.refresh, 'the hotlists could not be reloaded');
  return { watchlist, hotlists };
}
