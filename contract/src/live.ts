import { z } from 'zod';
import { event } from './events.ts';
import { incidentChange } from './incidents.ts';
import { missed, resumable, topic, upToDate } from './realtime.ts';
import { sensorStatusChange } from './sensors.ts';
import { watchlistAlert } from './watchlist.ts';

export const followAnyInput = z
  .object({
    topics: z
      .array(topic)
      .min(1)
      .optional()
      .describe(
        'What to follow. By default everything that is enabled and that the role of the caller may follow.',
      ),
    ...resumable,
  })
  .prefault({});

/**
 * A message of the stream of several topics: that of the topic's own subscription, except that its `type` is the name of the
 * topic, because the types of those messages are not distinct; or a note about the stream.
 */
export const anyMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('events').describe('As sent by `events.onIngested`.'), event }),
  z.object({
    type: z.literal('sensors').describe('As sent by `sensors.onStatusChanged`.'),
    change: sensorStatusChange,
  }),
  z.object({
    type: z.literal('incidents').describe('As sent by `incidents.onChanged`.'),
    change: incidentChange,
  }),
  z.object({
    type: z.literal('watchlist').describe('As sent by `watchlist.onAlert`.'),
    alert: watchlistAlert,
  }),
  missed,
  upToDate,
]);
export type AnyMessage = z.infer<typeof anyMessage>;
