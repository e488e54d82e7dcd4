import type { ServerResponse } from 'node:http';
import { isTrackedEnvelope } from '@trpc/server';
import { metaText, serialize } from './output.ts';

// The frames are those of tRPC's own producer, byte for byte. That one passes them through a chain of web streams in several
// pieces and serializes a message again for each stream; docs/decisions/0024 has the measurements.

const frame = (event: string, data: string): string => `event: ${event}\ndata: ${data}\n\n\n`;

/** The text of messages that many streams carry. */
const texts = new WeakMap<object, string>();

const write = (message: unknown): string => {
  const { json, values } = serialize(message);
  return `{"json":${json}${metaText(values)}}`;
};

/** A message as JSON; one that is an object must not change any more, because its text is kept as long as it is. */
const textOf = (message: unknown): string => {
  if (typeof message !== 'object' || message === null) return write(message);
  let text = texts.get(message);
  if (text === undefined) {
    text = write(message);
    texts.set(message, text);
  }
  return text;
};

const messageFrame = (value: unknown): string =>
  isTrackedEnvelope(value)
    ? `data: ${textOf(value[1])}\nid: ${value[0]}\n\n\n`
    : `data: ${textOf(value)}\n\n\n`;

/** What a stream of server-sent events is made of. */
export interface EventStream {
  /** What its client is told first: after which silence it is to connect again. */
  readonly about: object;
  /** Messages, with the ids to resume from if they are `tracked()`. */
  readonly messages: AsyncIterable<unknown>;
  /** The body of the error that a failure becomes. */
  readonly describe: (error: unknown) => object;
}

/** The frames of a subscription, as tRPC's subscription link reads them. A failure is told in the last of them. */
export const writeFrames = async function* ({
  about,
  messages,
  describe,
}: EventStream): AsyncGenerator<string> {
  yield frame('connected', JSON.stringify(about));
  try {
    for await (const message of messages) yield messageFrame(message);
  } catch (error) {
    yield frame('serialized-error', write(describe(error)));
    return;
  }
  yield frame('return', '');
};

/** Resolves as soon as more may be written, or nothing more ever. */
const untilTaken = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const go = (): void => {
      response.off('drain', go);
      response.off('close', go);
      resolve();
    };
    response.once('drain', go);
    response.once('close', go);
  });

/** Sends the texts as they come, no faster than they are taken, until they end or nobody is left to take them. */
export const sendTexts = async (texts: AsyncIterable<string>, response: ServerResponse): Promise<void> => {
  for await (const text of texts) {
    if (response.destroyed) return;
    if (!response.write(text)) await untilTaken(response);
  }
  if (!response.destroyed) response.end();
};
