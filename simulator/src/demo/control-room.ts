import { DAY_MS } from '@gantry/contract/durations';
import type { TimeRange } from '../history.ts';
import { count } from '../screen.ts';
import { acknowledgeAlerts, describeWatchlist } from './alerts.ts';
import type { DemoFeatures } from './features.ts';
import { dealWithIncidents, describeIncidents } from './incidents.ts';
import { reviewViolations } from './reviews.ts';
import type { Staff } from './staff.ts';

/** Events older than this, in milliseconds, have mostly been reviewed. */
const REVIEWED_AFTER_MS = 2 * DAY_MS;

/** Performs the work of a control room for a period in the past, and prints the resulting state. */
export async function workThroughPast(
  staff: Staff,
  features: DemoFeatures,
  { from, to }: TimeRange,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const reviewed = { from, to: to - REVIEWED_AFTER_MS };
  if (reviewed.to > reviewed.from) {
    const { processed, archived } = await reviewViolations(
      staff.operator.client.api.events,
      reviewed,
      signal,
    );
    say(`Old violations: ${count(processed)} marked as processed, ${count(archived)} of them archived`);
  }
  if (features.incidents && !signal.aborted) {
    await dealWithIncidents(staff, to, signal);
    say(await describeIncidents(staff));
  }
  if (features.watchlist && !signal.aborted) {
    await acknowledgeAlerts(staff, to, signal);
    say(await describeWatchlist(staff));
  }
}
