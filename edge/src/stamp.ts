import { randomBytes } from 'node:crypto';
import type { Clock } from './clock.ts';

/** What is kept of each message of the device. */
export interface Kept {
  /** When it was received, ISO 8601 in UTC. */
  readonly at: string;
  /** The idempotency key: the same however often it is sent. */
  readonly key: string;
  /** An event as `events.ingest` takes it, without the API key; or the text of a message in the device's own format. */
  readonly event?: Readonly<Record<string, unknown>>;
  readonly text?: string;
}

/** A message that cannot be sent. The message of the error says why. */
export class InvalidMessage extends Error {
  override name = 'InvalidMessage';
}

/** Stamps messages. The keys of one process begin alike, and no two processes begin alike. */
export function createStamp(clock: Clock) {
  const prefix = `edge-${randomBytes(9).toString('base64url')}-`;
  let count = 0;
  const stamp = () => ({
    at: new Date(clock.now()).toISOString(),
    key: `${prefix}${(count++).toString(36)}`,
  });

  return {
    /**
     * An event in JSON. A timestamp and a key of its own are kept.
     * @throws InvalidMessage for anything but an object
     */
    event(value: unknown): Kept {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        throw new InvalidMessage('An event must be a JSON object');
      }
      const { at, key } = stamp();
      const { apiKey: _, ...event } = value as Record<string, unknown>;
      return {
        at,
        key,
        event: { ...event, timestamp: event.timestamp ?? at, idempotencyKey: event.idempotencyKey ?? key },
      };
    },
    /** A line as the device wrote it, for a connection. */
    line(text: string): Kept {
      return { ...stamp(), text };
    },
    /** The message with its true time, if it was stamped before the clock was set. */
    corrected(kept: Kept): Kept {
      const shown = Date.parse(kept.at);
      const time = clock.timeOf(shown, kept.key.startsWith(prefix));
      if (time === shown) return kept;
      const at = new Date(time).toISOString();
      const { event } = kept;
      return {
        ...kept,
        at,
        ...(event?.timestamp === kept.at && { event: { ...event, timestamp: at } }),
      };
    },
  };
}
