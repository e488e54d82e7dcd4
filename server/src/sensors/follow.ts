import type { FollowSensorsInput } from '@gantry/contract/sensors';
import { type FollowContext, follow, type StreamMessage } from '../realtime/follow.ts';

/**
 * Streams changes of status, of all sensors or of those that match the filter.
 * @throws AppError as `follow` does
 */
export function followStatusChanges(
  ctx: FollowContext,
  { sensorId, status, lastEventId }: FollowSensorsInput,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage<'sensors'>> {
  const id = sensorId?.toLowerCase();
  const matches = (change: { sensorId: string; to: string }): boolean =>
    (id === undefined || change.sensorId === id) && (status === undefined || change.to === status);
  return follow(ctx, { topics: ['sensors'], matches, lastEventId }, signal);
}
