import { GantryError } from '@gantry/client';
import { DAY_MS } from '@gantry/contract/durations';
import { MAX_TAKE } from '@gantry/contract/page';
import type { WatchlistAlert } from '@gantry/contract/watchlist';
import { count } from '../screen.ts';
import { draw, drawOne } from './draw.ts';
import { inBatches } from './in-batches.ts';
import type { Part, Staff } from './staff.ts';

/** Maximum number of alerts that are processed in one run, the newest first. */
const MAX_ALERTS = 500;

/** The fractions of alerts that have been acknowledged: of those of the last day, and of older ones. */
const SEEN_OF_RECENT = 0.5;
const SEEN_OF_OLD = 0.93;

/** The fractions of acknowledged alerts that the field service acknowledged, and that have a note. */
const FIELD = 0.25;
const NOTED = 0.6;

const NOTES = [
  'Police informed',
  'Patrol is on its way',
  'Image checked: another vehicle',
  'Image checked: the plate is right',
  'Lost after the next junction',
] as const;

/** Whether the alert would have been acknowledged by `now` (Unix milliseconds). */
export function isSeen({ id, timestamp }: Pick<WatchlistAlert, 'id' | 'timestamp'>, now: number): boolean {
  return draw(`seen ${id}`) < (now - timestamp.getTime() > DAY_MS ? SEEN_OF_OLD : SEEN_OF_RECENT);
}

/** Acknowledges most of the alerts that are open at `now` (Unix milliseconds). */
export async function acknowledgeAlerts(staff: Staff, now: number, signal: AbortSignal): Promise<void> {
  const seen = (await listOpen(staff)).filter((alert) => isSeen(alert, now));
  await inBatches(seen, signal, async ({ id }) => {
    const part: Part = draw(`doer ${id}`) < FIELD ? 'field' : 'operator';
    const note = draw(`noted ${id}`) < NOTED ? drawOne(`note ${id}`, NOTES) : null;
    await staff[part].client.api.watchlist.acknowledgeAlert.mutate({ id, note }).catch((error: unknown) => {
      // Somebody else has acknowledged it meanwhile.
      if (!(error instanceof GantryError) || error.code !== 'CONFLICT') throw error;
    });
  });
}

/** The state of watchlist and alerts as one line. */
export async function describeWatchlist({ operator }: Staff): Promise<string> {
  const { watchlist } = operator.client.api;
  const [{ total }, all, open] = await Promise.all([
    watchlist.getAll.query({ take: 1 }),
    watchlist.getAlerts.query({ take: 1 }),
    watchlist.getAlerts.query({ acknowledged: false, take: 1 }),
  ]);
  return `Watchlist: ${count(total)} plates, ${count(all.total)} alerts, ${count(open.total)} of them open`;
}

async function listOpen({ operator }: Staff): Promise<WatchlistAlert[]> {
  const { watchlist } = operator.client.api;
  const found: WatchlistAlert[] = [];
  for (let skip = 0; skip < MAX_ALERTS; skip += MAX_TAKE) {
    const page = await watchlist.getAlerts.query({ acknowledged: false, skip, take: MAX_TAKE });
    found.push(...page.alerts);
    if (skip + MAX_TAKE >= page.total) break;
  }
  return found;
}
