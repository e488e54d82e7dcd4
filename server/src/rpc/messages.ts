import type { StreamNote } from '@gantry/contract/realtime';
import { type TrackedEnvelope, tracked } from '@trpc/server';

/** One message of a stream, such as `{type: 'event', event}`, or a note about the stream. */
export type Message<Name extends string, Thing> = ({ type: Name } & Record<Name, Thing>) | StreamNote;

/** A payload or a note, with the id for resuming. */
type Told<Thing> = { readonly id: string } & ({ readonly thing: Thing } | { readonly note: StreamNote });

/** The message for each payload, shared by all streams, so that it is serialized once. */
const messages = new WeakMap<object, object>();

/** Converts a stream of payloads to the messages for subscribers, with ids for resuming. */
export async function* messagesOf<Name extends string, Thing extends object>(
  name: Name,
  stream: AsyncIterable<Told<Thing>>,
): AsyncGenerator<TrackedEnvelope<Message<Name, Thing>>> {
  for await (const told of stream) {
    const message = 'note' in told ? told.note : messageOf(name, told.thing);
    yield tracked(told.id, message as Message<Name, Thing>);
  }
}

function messageOf<Name extends string>(name: Name, thing: object): object {
  let message = messages.get(thing);
  if (!message) {
    message = { type: name, [name]: thing };
    messages.set(thing, message);
  }
  return message;
}
