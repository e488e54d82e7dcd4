import type { Logger } from 'pino';

/** The time of each sensor's last message, written in the background, so that ingestion does not wait. */
export interface LastContacts extends AsyncDisposable {
  record(sensorId: string): void;
}

const FLUSH_MS = 2_000;

/**
 * @param store writes the times of many sensors at once
 * @param now returns the time in Unix milliseconds
 */
export function createLastContacts(
  store: (contacts: ReadonlyMap<string, Date>) => Promise<void>,
  log: Logger,
  now: () => number = Date.now,
): LastContacts {
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
        'lastCommunication of some sensors could not be written; the next contact will update it',
      );
    }
  };

  const timer = setInterval(() => {
    writing = writing.then(flush);
  }, FLUSH_MS);
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
