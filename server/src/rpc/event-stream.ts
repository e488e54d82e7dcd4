import type { ServerResponse } from 'node:http';
import { isTrackedEnvelope } from '@trpc/server';
import { metaText, serialize } from './output.ts';

// The frames equal those of tRPC's own producer byte for byte. That producer passes them through a chain of web
// streams in several pieces and serializes a message again for each stream; docs/decisions/0024 has the measurements.

/** The JSON of messages that are sent to many streams, for the streams of /trpc and /v1. */
const wrappedJson = new WeakMap<object, string>();
const plainJson = new WeakMap<object, string>();

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

/**
 * The frames of a subscription as plain JSON, for clients without tRPC: `data` is the message, `id` its id for resuming.
 * A failure is an event of the name `problem`, after which the stream ends.
 * @param describe converts an error to the data of that event
 */
export async function* writePlainFrames({
  messages,
  describe,
}: Omit<EventStream, 'about'>): AsyncGenerator<string> {
  // Some clients and proxies regard a stream as open only when they have read something of it.
  yield ': connected\n\n';
  try {
    for await (const message of messages) {
      const [id, payload] = isTrackedEnvelope(message) ? message : [null, message];
      const json = cached(plainJson, payload, (value) => serialize(value).json);
      yield `${id === null ? '' : `id: ${id}\n`}data: ${json}\n\n`;
    }
  } catch (error) {
    yield `event: problem\ndata: ${JSON.stringify(describe(error))}\n\n`;
  }
}

function frame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n\n`;
}

function write(message: unknown): string {
  const { json, values } = serialize(message);
  return `{"json":${json}${metaText(values)}}`;
}

/** A message as a string. An object must not be changed afterwards, because its string is cached with it. */
function cached(
  strings: WeakMap<object, string>,
  message: unknown,
  make: (message: unknown) => string,
): string {
  if (typeof message !== 'object' || message === null) return make(message);
  let made = strings.get(message);
  if (made === undefined) {
    made = make(message);
    strings.set(message, made);
  }
  return made;
}

function messageFrame(value: unknown): string {
  const [id, payload] = isTrackedEnvelope(value) ? value : [null, value];
  return `data: ${cached(wrappedJson, payload, write)}\n${id === null ? '' : `id: ${id}\n`}\n\n`;
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
