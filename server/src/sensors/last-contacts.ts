import type { Logger } from 'pino';

/** The time of each sensor's last message, written in the background, so that ingestion does not wait. */
export interface LastContacts extends AsyncDisposable {
  record(sensorId: string): void;
  /** The same, for a sensor that used its previous key. */
  recordByPreviousKey(sensorId: string): void;
  /**
   * The same, for a sensor whose message came through a gateway, without a key.
   * @param at when the contact was, in Unix milliseconds
   */
  recordByConnection(sensorId: string, at: number): void;
  /** Records an accepted event, which is a sign of life. @param at when it arrived, in Unix milliseconds */
  recordEvent(sensorId: string, at: number): void;
}

export interface LastContactsParts {
  /** Writes the times of many sensors at once. */
  readonly store: (contacts: Contacts) => Promise<void>;
  readonly log: Logger;
  /** The time in Unix milliseconds. */
  readonly now: () => number;
  /** Interval between two writes, in milliseconds. */
  readonly everyMs: number;
}

/** Times of the last contacts, by the ids of the sensors. */
export interface Contacts {
  readonly byKey: ReadonlyMap<string, Date>;
  readonly byPreviousKey: ReadonlyMap<string, Date>;
  readonly byConnection: ReadonlyMap<string, Date>;
  /** When their last accepted events arrived, in Unix milliseconds. */
  readonly events: ReadonlyMap<string, number>;
}

export function createLastContacts({ store, log, now, everyMs }: LastContactsParts): LastContacts {
  let byKey = new Map<string, Date>();
  let byPreviousKey = new Map<string, Date>();
  let byConnection = new Map<string, Date>();
  let events = new Map<string, number>();
  let writing = Promise.resolve();

  const flush = async (): Promise<void> => {
    if (byKey.size + byPreviousKey.size + byConnection.size + events.size === 0) return;
    const due = { byKey, byPreviousKey, byConnection, events };
    byKey = new Map();
    byPreviousKey = new Map();
    byConnection = new Map();
    events = new Map();
    try {
      await store(due);
    } catch (error) {
      log.warn(
        { err: error },
        'lastCommunication of some sensors could not be written; the next contact will update it',
      );
    }
  };

  const timer = setInterval(() => {
    writing = writing.then(flush);
  }, everyMs);
  timer.unref();

  return {
    record(sensorId) {
      byKey.set(sensorId, new Date(now()));
    },
    recordByPreviousKey(sensorId) {
      byPreviousKey.set(sensorId, new Date(now()));
    },
    recordByConnection(sensorId, at) {
      byConnection.set(sensorId, new Date(Math.max(at, byConnection.get(sensorId)?.getTime() ?? at)));
    },
    recordEvent(sensorId, at) {
      events.set(sensorId, Math.max(at, events.get(sensorId) ?? at));
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await writing.then(flush);
    },
  };
}
