import type { FollowAlertsInput, WatchlistAlert } from '@gantry/contract/watchlist';
import { type FollowContext, follow, type StreamMessage } from '../realtime/follow.ts';

/** Streams alerts, of all entries or of one, and of all priorities or of one. @throws AppError as `follow` does */
export function followAlerts(
  ctx: FollowContext,
  { entryId, priority, lastEventId }: FollowAlertsInput,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage<'watchlist'>> {
  const entry = entryId?.toLowerCase();
  const matches = (alert: WatchlistAlert): boolean =>
    (entry === undefined || alert.entryId === entry) &&
    (priority === undefined || alert.priority === priority);
  return follow(ctx, { topics: ['watchlist'], matches, lastEventId }, signal);
}
