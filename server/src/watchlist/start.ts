import { channels } from '../platform/database/notify.ts';
import { type Foundation, keepFresh } from '../platform/start.ts';
import { loadWatchedEntries } from './store.ts';
import { createWatchlist, type Watchlist } from './watch.ts';

/** The services of this module. */
export interface WatchlistServices {
  readonly watchlist: Watchlist;
}

export async function startWatchlist(foundation: Foundation): Promise<WatchlistServices> {
  const { core, resources } = foundation;
  const watchlist = resources.use(await createWatchlist(() => loadWatchedEntries(core.db), core.log));
  keepFresh(foundation, channels.watchlist, watchlist.refresh, 'the watchlist could not be reloaded');
  return { watchlist };
}
