import type { WatchlistAlert } from '@gantry/contract/watchlist';
import { toldBefore } from './unseen.ts';

/** The maximum number of ids in `announced`. */
const MOST = 1_000;
/** The longest delay between an alert's `createdAt` and its arrival, in milliseconds. */
const LATE_MS = 60_000;

/** The ids of the alerts that this tab received. Each tab keeps its own: any of them may have to play the sound. */
const announced = new Set(toldBefore());
let followedSince: number | null = null;

/** Records the service's time at which this tab started to follow the stream. Later calls have no effect. */
export function noteFollowing(at: Date): void {
  followedSince ??= at.getTime();
}

/**
 * Whether an open alert has to be announced. The stream does not distinguish a new alert from one whose acknowledgement
 * was undone. Must be called once per message, because it records the alert as announced.
 */
export function isNewAlert({ id, createdAt }: Pick<WatchlistAlert, 'id' | 'createdAt'>): boolean {
  const isOld = followedSince !== null && createdAt.getTime() < followedSince - LATE_MS;
  if (announced.has(id) || isOld) return false;
  noteAnnounced(id);
  return true;
}

/** Records an alert that must not be announced any more. */
export function noteAnnounced(id: string): void {
  announced.add(id);
  if (announced.size > MOST) for (const oldest of [...announced].slice(0, MOST / 2)) announced.delete(oldest);
}
