import { z } from 'zod';
import { alarm } from './alarms.ts';
import { caseChange } from './cases.ts';
import { event } from './events.ts';
import { fault } from './faults.ts';
import { hitChange } from './hits.ts';
import { incidentChange } from './incidents.ts';
import { logEntry } from './log.ts';
import { missed, resumable, topic, upToDate } from './realtime.ts';
import { sensorStatusChange } from './sensors.ts';
import { watchlistAlert } from './watchlist.ts';
import { worksChange } from './works.ts';

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
 * A message of a stream of several topics, or a note about the stream. A message is the same as in the subscription of its
 * topic, except that its `type` is the name of the topic, because several subscriptions use the same `type`.
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
  z.object({ type: z.literal('hits').describe('As sent by `hits.onHit`.'), change: hitChange }),
  z.object({ type: z.literal('alarms').describe('As sent by `alarms.onChanged`.'), alarm }),
  z.object({ type: z.literal('log').describe('As sent by `log.onAdded`.'), entry: logEntry }),
  z.object({ type: z.literal('works').describe('As sent by `works.onChanged`.'), change: worksChange }),
  z.object({ type: z.literal('faults').describe('As sent by `faults.onChanged`.'), fault }),
  z.object({ type: z.literal('cases').describe('As sent by `cases.onChanged`.'), change: caseChange }),
  missed,
  upToDate,
]);
export type AnyMessage = z.infer<typeof anyMessage>;
