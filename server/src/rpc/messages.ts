import type { StreamNote } from '@gantry/contract/realtime';
import { type TrackedEnvelope, tracked } from '@trpc/server';

/** One message of a stream, such as `{type: 'event', event}`, or a note about the stream. */
export type Message<Name extends string, Payload> = ({ type: Name } & Record<Name, Payload>) | StreamNote;

/** A payload or a note, with the id for resuming. */
type StreamEntry<Payload, Topic extends string = string> = { readonly id: string } & (
  | { readonly topic: Topic; readonly payload: Payload }
  | { readonly note: StreamNote }
);

/** The message for each payload, shared by all streams, so that it is serialized once. */
const messages = new WeakMap<object, object>();

/** The same for streams of several topics, in which the type of a message is its topic. */
const messagesOfTopics = new WeakMap<object, object>();

/** Converts a stream of payloads to the messages for subscribers, with ids for resuming. */
export async function* messagesOf<Name extends string, Payload extends object>(
  name: Name,
  stream: AsyncIterable<StreamEntry<Payload>>,
): AsyncGenerator<TrackedEnvelope<Message<Name, Payload>>> {
  for await (const entry of stream) {
    const message = 'note' in entry ? entry.note : messageOf(messages, name, name, entry.payload);
    yield tracked(entry.id, message as Message<Name, Payload>);
  }
}

/**
 * Converts a stream of several topics in the same way. A message is `{type: <topic>, <name>: payload}`, or a note.
 * @param names the key of the payload in the messages of each topic
 */
export async function* messagesByTopic<AnyMessage, Topic extends string>(
  names: Readonly<Record<Topic, string>>,
  stream: AsyncIterable<StreamEntry<object, Topic>>,
): AsyncGenerator<TrackedEnvelope<AnyMessage>> {
  for await (const entry of stream) {
    const message =
      'note' in entry
        ? entry.note
        : messageOf(messagesOfTopics, entry.topic, names[entry.topic], entry.payload);
    yield tracked(entry.id, message as AnyMessage);
  }
}

function messageOf(made: WeakMap<object, object>, type: string, name: string, payload: object): object {
  let message = made.get(payload);
  if (!message) {
    message = { type, [name]: payload };
    made.set(payload, message);
  }
  return message;
}
