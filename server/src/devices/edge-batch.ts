import { HOUR_MS } from '@gantry/contract/durations';
import { MAX_AHEAD_MS } from '@gantry/contract/time-bounds';
import { z } from 'zod';
import { keyedEventId } from '../events/id.ts';
import { AppError } from '../platform/error.ts';
import { EDGE, type Incoming } from './incoming.ts';
import type { Receiver } from './receive.ts';

/** The type of a body of `gantry-edge`: messages that it received from the device, with their times and keys. */
const EDGE_BATCH = /^application\/vnd\.gantry\.edge\+json\b/i;

const batch = z
  .array(z.object({ at: z.iso.datetime(), key: z.string().min(1).max(200), text: z.string().min(1) }))
  .min(1)
  .max(1_000);

/**
 * The time with which the id of a message begins. Ids are in the order of arrival, so a message whose clock is far ahead
 * would remain the latest one until that time. It gets the beginning of the hour in which it arrives instead, and has the
 * same id when it is sent again within that hour.
 */
function timeOfMessage(at: number, now: number): number {
  return at <= now + MAX_AHEAD_MS ? at : now - (now % HOUR_MS);
}

/**
 * Stores every message of a batch as if the device had sent it when the buffer received it. A message that arrives again
 * has the same id, and is stored once.
 * @param now Unix milliseconds; messages of a buffer whose clock is ahead count as received at this time
 * @param take deducts the messages after the first one from the allowance of the connection
 * @returns the number of its messages, which the buffer expects in the answer; null when the body is not such a batch
 * @throws AppError `badRequest` for a batch that is invalid
 * @throws AppError `unavailable` when they cannot be stored now; `tooManyRequests` when there are too many
 */
export async function receiveEdgeBatch(
  receiver: Pick<Receiver, 'store'>,
  incoming: Incoming,
  { now, take }: { readonly now: number; readonly take: (messages: number) => void },
): Promise<number | null> {
  if (!EDGE_BATCH.test(incoming.contentType ?? '')) return null;
  const messages = batch.safeParse(parse(incoming.body));
  if (!messages.success) {
    const [issue] = messages.error.issues;
    throw new AppError('badRequest', `The batch is invalid: ${issue?.path.join('.')}: ${issue?.message}`);
  }
  if (messages.data.length > 1) take(messages.data.length - 1);
  await Promise.all(
    messages.data.map(({ at, key, text }) => {
      const time = Date.parse(at);
      const id = keyedEventId(timeOfMessage(time, now), incoming.connection.id, key);
      const receivedAt = Math.min(time, now);
      return receiver.store(id, {
        ...incoming,
        method: EDGE,
        headers: undefined,
        receivedAt,
        contentType: null,
        body: Buffer.from(text),
      });
    }),
  );
  return messages.data.length;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}
