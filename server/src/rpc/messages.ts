import type { StreamNote } from '@gantry/contract/realtime';
import { type TrackedEnvelope, tracked } from '@trpc/server';

/** One message of a stream, such as `{type: 'event', event}`, or a note about the stream. */
export type Message<Name extends string, Payload> = ({ type: Name } & Record<Name, Payload>) | StreamNote;

/** A payload or a note, with the id for resuming. */
type StreamEntry<Payload> = { readonly id: string } & (
  | { readonly payload: Payload }
  | { readonly note: StreamNote }
);

/** The message for each payload, shared by all streams, so that it is serialized once. */
const messages = new WeakMap<object, object>();

/** Converts a stream of payloads to the messages for subscribers, with ids for resuming. */
export async function* messagesOf<Name extends string, Payload extends object>(
  name: Name,
  stream: AsyncIterable<StreamEntry<Payload>>,
): AsyncGenerator<TrackedEnvelope<Message<Name, Payload>>> {
  for await (const entry of stream) {
    const message = 'note' in entry ? entry.note : messageOf(name, entry.payload);
    yield tracked(entry.id, message as Message<Name, Payload>);
  }
}

function messageOf<Name extends string>(name: Name, payload: object): object {
  let message = messages.get(payload);
  if (!message) {
    message = { type: name, [name]: payload };
    messages.set(payload, message);
  }
  return message;
}
