import type { WatchlistAlert } from '@gantry/contract/watchlist';
import { toldBefore } from './unseen.ts';

/** Ids that are kept. */
const MOST = 1_000;
/** An alert can arrive this long after the time at which it was raised, in milliseconds. */
const LATE_MS = 60_000;

/** The alerts that this tab received. Each tab keeps its own, because any of them may be the one that plays the sound. */
const announced = new Set(toldBefore());
let followedSince: number | null = null;

/** Notes the time of the service at which this tab began to follow it. */
export function noteFollowing(at: Date): void {
  followedSince ??= at.getTime();
}

/**
 * Whether an open alert is to be announced: the stream sends an alert whose acknowledgement was undone as it sends a new one.
 * It is asked once for each message.
 */
export function isNewAlert({ id, createdAt }: Pick<WatchlistAlert, 'id' | 'createdAt'>): boolean {
  const isOld = followedSince !== null && createdAt.getTime() < followedSince - LATE_MS;
  if (announced.has(id) || isOld) return false;
  noteAnnounced(id);
  return true;
}

/** Notes an alert that need not be announced any more. */
export function noteAnnounced(id: string): void {
  announced.add(id);
  if (announced.size > MOST) for (const oldest of [...announced].slice(0, MOST / 2)) announced.delete(oldest);
}
