import type { ServerResponse } from 'node:http';
import { isTrackedEnvelope } from '@trpc/server';
import { metaText, serialize } from './output.ts';

// The frames are those of tRPC's own producer, byte for byte. That one passes them through a chain of web streams in several
// pieces and serializes a message again for each stream; docs/decisions/0024 has the measurements.

/** The text of messages that many streams carry. */
const texts = new WeakMap<object, string>();

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
export async function* writeFrames({ about, messages, describe }: EventStream): AsyncGenerator<string> {
  yield frame('connected', JSON.stringify(about));
  try {
    for await (const message of messages) yield messageFrame(message);
  } catch (error) {
    yield frame('serialized-error', write(describe(error)));
    return;
  }
  yield frame('return', '');
}

/** Sends the texts as they come, no faster than they are taken, until they end or nobody is left to take them. */
export async function sendTexts(texts: AsyncIterable<string>, response: ServerResponse): Promise<void> {
  for await (const text of texts) {
    if (response.destroyed) return;
    if (!response.write(text)) await untilTaken(response);
  }
  if (!response.destroyed) response.end();
}

function frame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n\n`;
}

function write(message: unknown): string {
  const { json, values } = serialize(message);
  return `{"json":${json}${metaText(values)}}`;
}

/** A message as JSON; one that is an object must not change any more, because its text is kept as long as it is. */
function textOf(message: unknown): string {
  if (typeof message !== 'object' || message === null) return write(message);
  let text = texts.get(message);
  if (text === undefined) {
    text = write(message);
    texts.set(message, text);
  }
  return text;
}

function messageFrame(value: unknown): string {
  return isTrackedEnvelope(value)
    ? `data: ${textOf(value[1])}\nid: ${value[0]}\n\n\n`
    : `data: ${textOf(value)}\n\n\n`;
}

/** Resolves as soon as more may be written, or nothing more ever. */
function untilTaken(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      response.off('drain', go);
      response.off('close', go);
      resolve();
    };
    response.once('drain', go);
    response.once('close', go);
  });
}
