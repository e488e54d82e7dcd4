import { z } from 'zod';
import { topics } from './values.ts';

/** The topics of streams. Each has a subscription of its own; `live.onAny` follows several. */
export const topic = z.enum(topics);
export type Topic = z.infer<typeof topic>;

/** The input of every subscription besides its filters. */
export const resumable = {
  lastEventId: z
    .string()
    .max(100)
    .nullish()
    .transform((value) => value ?? undefined)
    .describe('The id of the last message received. Messages after it are sent first.'),
};

/** The notes about a stream: messages were skipped (`missed`), or everything so far has been sent (`upToDate`). */
export const missed = z.object({
  type: z.literal('missed'),
  count: z
    .number()
    .nullable()
    .describe(
      'Number of messages that were not sent because the client was too slow; null if it is no longer known.',
    ),
});
export const upToDate = z.object({
  type: z.literal('upToDate'),
  at: z.date().describe('Everything committed before this time has been sent.'),
});

/** A message about the stream itself. */
export type StreamNote = z.infer<typeof missed> | z.infer<typeof upToDate>;

/** The messages of a stream: `{type: <name>, <name>: payload}`, and the notes about the stream itself. */
export function messagesOf<Name extends string, Thing extends z.ZodType>(name: Name, thing: Thing) {
  const shape = { type: z.literal(name), [name]: thing } as { type: z.ZodLiteral<Name> } & Record<
    Name,
    Thing
  >;
  return z.discriminatedUnion('type', [z.object(shape), missed, upToDate]);
}
