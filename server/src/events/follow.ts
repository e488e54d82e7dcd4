import type { Event, FollowEventsInput } from '@gantry/contract/events';
import { recordPlateSearch } from '../activity/store.ts';
import { resolveInterval } from '../platform/time.ts';
import { type FollowContext, follow, type StreamMessage } from '../realtime/follow.ts';
import { matchesFilter } from './matches.ts';
import { requirePlateSearch } from './plate-access.ts';

/**
 * Streams events when they are stored. Following a plate is a look-up, so it is recorded before the stream begins: once
 * in ten minutes, however often the stream is resumed.
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
  const { licensePlateNumber: plate } = filter;
  if (plate !== undefined) {
    const search = { follows: true, startDate, endDate, reason, ...filter };
    const details = { plate, ...(reason !== undefined && { reason }) };
    const isFirstPage = lastEventId === undefined;
    await recordPlateSearch(ctx.app.db, ctx.actor.id, ctx.caller, { search, isFirstPage, details });
  }
  yield* follow(ctx, { topics: ['events'], matches, lastEventId }, signal);
}
