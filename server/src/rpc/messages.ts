import type { StreamNote } from '@gantry/contract/realtime';
import { type TrackedEnvelope, tracked } from '@trpc/server';

/** One message of a stream of things that go by a name, such as `{type: 'event', event}`; or a note about the stream. */
export type Message<Name extends string, Thing> = ({ type: Name } & Record<Name, Thing>) | StreamNote;

/** What is told, with the id to go on from. */
type Told<Thing, Topic extends string = string> = { readonly id: string } & (
  | { readonly topic: Topic; readonly thing: Thing }
  | { readonly note: StreamNote }
);

/** The message about each thing, which is one and the same for all streams, so that it is serialized once. */
const messages = new WeakMap<object, object>();

/** The same for streams of several topics, whose messages have the type of their topic. */
const messagesOfTopics = new WeakMap<object, object>();

/** Gives a stream of things the form in which subscribers get it: messages with ids, by which they can resume. */
export async function* messagesOf<Name extends string, Thing extends object>(
  name: Name,
  stream: AsyncIterable<Told<Thing>>,
): AsyncGenerator<TrackedEnvelope<Message<Name, Thing>>> {
  for await (const told of stream) {
    const message = 'note' in told ? told.note : messageOf(messages, name, name, told.thing);
    yield tracked(told.id, message as Message<Name, Thing>);
  }
}

/**
 * The same for a stream of several topics: a message is `{type: <topic>, <name>: thing}`, or a note.
 * @param names the name by which a thing of each topic goes
 */
export async function* messagesByTopic<AnyMessage, Topic extends string>(
  names: Readonly<Record<Topic, string>>,
  stream: AsyncIterable<Told<object, Topic>>,
): AsyncGenerator<TrackedEnvelope<AnyMessage>> {
  for await (const told of stream) {
    const message =
      'note' in told ? told.note : messageOf(messagesOfTopics, told.topic, names[told.topic], told.thing);
    yield tracked(told.id, message as AnyMessage);
  }
}

function messageOf(made: WeakMap<object, object>, type: string, name: string, thing: object): object {
  let message = made.get(thing);
  if (!message) {
    message = { type, [name]: thing };
    made.set(thing, message);
  }
  return message;
}
