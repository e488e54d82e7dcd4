import type { Logger } from 'pino';

/** When each sensor last spoke, written behind: ingestion must not wait for it. */
export interface LastContacts extends AsyncDisposable {
  record(sensorId: string): void;
}

export interface LastContactsParts {
  /** Writes the moments of many sensors at once. */
  readonly store: (contacts: ReadonlyMap<string, Date>) => Promise<void>;
  readonly log: Logger;
  /** The time in Unix milliseconds. */
  readonly now: () => number;
  /** From one time of writing to the next, in milliseconds. */
  readonly everyMs: number;
}

export function createLastContacts({ store, log, now, everyMs }: LastContactsParts): LastContacts {
  let contacts = new Map<string, Date>();
  let writing = Promise.resolve();

  const flush = async (): Promise<void> => {
    if (contacts.size === 0) return;
    const due = contacts;
    contacts = new Map();
    try {
      await store(due);
    } catch (error) {
      log.warn(
        { err: error },
        'lastCommunication of some sensors could not be written; the next contact will',
      );
    }
  };

  const timer = setInterval(() => {
    writing = writing.then(flush);
  }, everyMs);
  timer.unref();

  return {
    record(sensorId) {
      contacts.set(sensorId, new Date(now()));
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await writing.then(flush);
    },
  };
}
