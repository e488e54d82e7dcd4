import type { EventType } from '@gantry/contract/events';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Core } from '../platform/context.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import type { Outbox } from '../realtime/publish.ts';
import { type Contacts, type LastEvent, touchSensors } from './last-seen-store.ts';
import { publishStatus } from './status.ts';
import { EVENT_REASON, recordEventsOf } from './status-store.ts';
import type { PublicList } from './view.ts';

export interface LastSeenParts {
  /** Writes the times of many sensors at once. */
  readonly store: (contacts: Contacts) => Promise<void>;
  readonly log: Logger;
  /** The time in Unix milliseconds. */
  readonly now: () => number;
  /** Interval between two writes, in milliseconds. */
  readonly everyMs: number;
}

/**
 * The time of each sensor's last message, written in the background, so that ingestion does not wait. Disposing writes
 * what is left.
 */
export class LastSeen implements AsyncDisposable {
  readonly #store: (contacts: Contacts) => Promise<void>;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #byKey = new Map<string, Date>();
  #byPreviousKey = new Map<string, Date>();
  #byConnection = new Map<string, Date>();
  #events = new Map<string, LastEvent>();
  #writing = Promise.resolve();

  constructor({ store, log, now, everyMs }: LastSeenParts) {
    this.#store = store;
    this.#log = log;
    this.#now = now;
    this.#timer = setInterval(() => {
      this.#writing = this.#writing.then(() => this.#flush());
    }, everyMs);
    this.#timer.unref();
  }

  record(sensorId: string): void {
    this.#byKey.set(sensorId, new Date(this.#now()));
  }

  /** The same, for a sensor that used its previous key. */
  recordByPreviousKey(sensorId: string): void {
    this.#byPreviousKey.set(sensorId, new Date(this.#now()));
  }

  /**
   * The same, for a sensor whose message came through a gateway, without a key.
   * @param at when the contact was, in Unix milliseconds
   */
  recordByConnection(sensorId: string, at: number): void {
    const known = this.#byConnection.get(sensorId)?.getTime() ?? at;
    this.#byConnection.set(sensorId, new Date(Math.max(at, known)));
  }

  /** Records an accepted event, which is a liveness signal. @param at when it arrived, in Unix milliseconds */
  recordEvent(sensorId: string, at: number, type: EventType): void {
    const known = this.#events.get(sensorId);
    if (known === undefined || at >= known.at) this.#events.set(sensorId, { at, type });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing.then(() => this.#flush());
  }

  async #flush(): Promise<void> {
    const due = {
      byKey: this.#byKey,
      byPreviousKey: this.#byPreviousKey,
      byConnection: this.#byConnection,
      events: this.#events,
    };
    if (Object.values(due).every(({ size }) => size === 0)) return;
    this.#byKey = new Map();
    this.#byPreviousKey = new Map();
    this.#byConnection = new Map();
    this.#events = new Map();
    try {
      await this.#store(due);
    } catch (error) {
      this.#log.warn(
        { err: error },
        'lastCommunication of some sensors could not be written; the next contact will update it',
      );
    }
  }
}

export interface ContactParts extends Pick<Core, 'devices'> {
  readonly pool: Pool;
  readonly outbox: Outbox;
  readonly publicSensors: PublicList;
  readonly timeoutSeconds: number;
}

/** Writes the times of the times last seen, and changes the status of sensors whose events are liveness signals. */
export async function writeContacts(parts: ContactParts, contacts: Contacts): Promise<void> {
  const awakened = await touchSensors(parts.pool, contacts, parts.timeoutSeconds);
  if (awakened.length === 0) return;
  await inTransaction(parts.devices, async (tx) => {
    const outcomes = await recordEventsOf(tx, awakened);
    await publishStatus(parts, tx, outcomes, EVENT_REASON);
  });
  parts.publicSensors.forget();
}
