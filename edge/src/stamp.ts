import { randomBytes } from 'node:crypto';
import type { Clock } from './clock.ts';
import type { Contact, Input } from './contact.ts';

/** A message of the device as it is stored in the spool. */
export interface Kept {
  /** When it was received, ISO 8601 in UTC. */
  readonly at: string;
  /** The idempotency key, which stays the same when the message is sent again. */
  readonly key: string;
  /** An event as `events.ingest` takes it, without the API key; or the text of a message in the device's own format. */
  readonly event?: Readonly<Record<string, unknown>>;
  readonly text?: string;
  /** For how many milliseconds before `at` nothing that the device reported was missed, if that is known. */
  readonly observedMs?: number;
}

/** A message that cannot be sent. The message of the error says why. */
export class InvalidMessage extends Error {
  override name = 'InvalidMessage';
}

export type Stamp = ReturnType<typeof createStamp>;

/** Adds times and idempotency keys to messages. All keys of a process begin with a random prefix of its own. */
export function createStamp(clock: Clock, contact: Contact) {
  const prefix = `edge-${randomBytes(9).toString('base64url')}-`;
  let count = 0;
  const stamp = () => ({
    at: new Date(clock.now()).toISOString(),
    key: `${prefix}${(count++).toString(36)}`,
  });

  return {
    /**
     * Stamps an event in JSON. A timestamp or idempotency key that it already has is not changed.
     * @param input where it came from
     * @throws InvalidMessage for anything but an object
     */
    event(value: unknown, input: Input): Kept {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        throw new InvalidMessage('An event must be a JSON object');
      }
      const { at, key } = stamp();
      const observedMs = contact.received(input, clock.isSet() ? Date.parse(at) : null);
      const { apiKey: _, ...event } = value as Record<string, unknown>;
      return {
        at,
        key,
        ...(observedMs > 0 && { observedMs }),
        event: { ...event, timestamp: event.timestamp ?? at, idempotencyKey: event.idempotencyKey ?? key },
      };
    },
    /** Stamps a line in the device's own format, for a connection. */
    line(text: string): Kept {
      return { ...stamp(), text };
    },
    /** The message with its true time, which differs if it was stamped before the clock was set. */
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
