import type { ServerResponse } from 'node:http';
import { isTrackedEnvelope } from '@trpc/server';
import { metaText, serialize } from './output.ts';

// The frames equal those of tRPC's own producer byte for byte. That producer passes them through a chain of web
// streams in several pieces and serializes a message again for each stream; docs/decisions/0024 has the measurements.

/** The text of messages that are sent to many streams. */
const texts = new WeakMap<object, string>();

/** The contents of a stream of server-sent events. */
export interface EventStream {
  /** The content of the first message: the silence after which the client should reconnect. */
  readonly about: object;
  /** Messages, with the ids for resuming if they are `tracked()`. */
  readonly messages: AsyncIterable<unknown>;
  /** Converts an error to the body of the last message. */
  readonly describe: (error: unknown) => object;
}

/** The frames of a subscription for tRPC's subscription link. The last one may report a failure. */
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

/** Sends the texts as they come, no faster than the client reads, until they end or the client is gone. */
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

/** A message as JSON. An object must not be changed afterwards, because its text is cached with it. */
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

/** Resolves when more can be written, or the connection is closed. */
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
