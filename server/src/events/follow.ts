import type { Event, FollowEventsInput } from '@gantry/contract/events';
import { resolveInterval } from '../platform/time.ts';
import { type FollowContext, follow, type StreamMessage } from '../realtime/follow.ts';
import { matchesFilter } from './matches.ts';
import { requirePlateSearch } from './plate-access.ts';
import { recordPlateLookUp } from './service.ts';

/**
 * Streams events when they are stored. Following a plate is a look-up, so it is recorded first.
 * @throws AppError as `follow` and `requirePlateSearch` do
 */
export async function* followEvents(
  ctx: FollowContext,
  { lastEventId, startDate, endDate, reason, ...filter }: FollowEventsInput,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage<'events'>> {
  requirePlateSearch(ctx, { ...filter, reason });
  const { from, until } = resolveInterval({ startDate, endDate }, ctx.app.settings.current().timezone);
  const passes = matchesFilter(filter);
  const matches = (event: Event): boolean => {
    const time = event.timestamp.getTime();
    return time >= from && time < until && passes(event);
  };
  if (filter.licensePlateNumber !== undefined) {
    await recordPlateLookUp(ctx, filter.licensePlateNumber, reason);
  }
  yield* follow(ctx, { topics: ['events'], matches, lastEventId }, signal);
}
