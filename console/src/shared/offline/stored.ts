import type { Coordinates } from '@gantry/contract/coordinates';
import type { Incident } from '@gantry/contract/incidents';
import { type StoreName, withStore } from '../../ui/database.ts';
import { createStored } from '../../ui/stored.ts';
import type { Entry } from './send.ts';

// What this browser keeps for a user who works where there is no connection. Signing out removes it.

/** An entry that waits in this browser. Only its user sees and sends it. */
export interface StoredEntry {
  readonly userId: string;
  /** The idempotency key, by which the service adds it once, however often it is sent. */
  readonly key: string;
  readonly entry: Entry;
  /** When it was written, in milliseconds since 1970, by the clock of this device. */
  readonly writtenAt: number;
  /** Why the service refused it, in words; null while it has not. */
  readonly refused: string | null;
  /** How often the service failed at it. */
  readonly failures: number;
}

const ENTRIES: StoreName = { database: 'gantry-outbox', store: 'entries', isNumbered: true };

/** Runs a transaction on the entries that wait, by their numbers. @throws DOMException as `withStore` does */
export function withEntries(mode: IDBTransactionMode, run: (store: IDBObjectStore) => void): Promise<void> {
  return withStore(ENTRIES, mode, run);
}

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** How many entries of each user wait, by user id. */
export const unsent = createStored<Readonly<Record<string, number>>>('unsent', {}, isRecord);

/** What is kept of an incident, so that a note can be written about it after a reload: nothing that may show a plate. */
export type Card = Pick<Incident, 'id' | 'title' | 'type' | 'severity' | 'status' | 'openedAt'> & {
  readonly place: string | null;
  readonly road: string | null;
  readonly coordinates: Coordinates | null;
};

interface Cards {
  readonly userId: string;
  /** When the service answered with them, in milliseconds since 1970. */
  readonly at: number;
  readonly cards: readonly (Omit<Card, 'openedAt'> & { readonly openedAt: string })[];
}

/** The incidents of the user who is signed in, as the service last answered. */
export const keptCards = createStored<Cards | null>(
  'cards',
  null,
  (value) => value === null || isRecord(value),
);

/** Removes the entries of a user that wait. */
export async function removeEntriesOf(userId: string): Promise<void> {
  const { [userId]: _, ...others } = unsent.get();
  unsent.set(others);
  await withEntries('readwrite', (store) => {
    const request = store.openCursor();
    request.onsuccess = () => {
      const cursor = request.result;
      if (!cursor) return;
      if ((cursor.value as StoredEntry).userId === userId) cursor.delete();
      cursor.continue();
    };
  }).catch(() => undefined);
}
