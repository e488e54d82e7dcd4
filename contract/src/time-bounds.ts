import { MINUTE_MS } from './durations.ts';

/** No event is older, in Unix milliseconds: earlier times come from clocks that were never set. */
export const EARLIEST_EVENT = Date.UTC(2000, 0, 1);

/** How far the clock of a device may be ahead of the service, in milliseconds. */
export const MAX_AHEAD_MS = 5 * MINUTE_MS;
