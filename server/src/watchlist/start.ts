import type { Watchlist } from './watch.ts';

/** What this room adds to the service. */
export interface WatchlistServices {
  readonly watchlist: Watchlist;
}
