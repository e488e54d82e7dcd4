import { isTrackedEnvelope, tracked } from '@trpc/server';
import { ReadyAnswer } from './output.ts';
import type { Shown } from './procedure.ts';

type Show = NonNullable<Shown['show']>;

/**
 * What a caller is shown of an answer, or of each message of a subscription.
 * @throws Error for an answer that is serialized already, from which nothing can be removed
 */
export function shownTo(show: Show, answer: unknown): unknown {
  if (answer instanceof ReadyAnswer)
    throw new Error('An answer that is serialized already cannot be changed');
  return isStream(answer) ? showEach(show, answer) : show(answer);
}

async function* showEach(show: Show, messages: AsyncIterable<unknown>): AsyncGenerator<unknown> {
  for await (const message of messages) {
    yield isTrackedEnvelope(message) ? tracked(message[0], show(message[1]) as object) : show(message);
  }
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
