import { GantryError } from '@gantry/client';
import { HOUR_MS } from '@gantry/contract/durations';
import { SECOND_FACTOR_MISSING } from '@gantry/contract/second-factor';
import { useSyncExternalStore } from 'react';
import { currentConnection, onConnectionChange } from '../service/connection.ts';
import { sentenceOf } from '../service/failure.tsx';
import { isPassing, noticeRefusal, queryClient } from '../service/queries.ts';
import { service } from '../service/service.ts';
import { isSessionEnded } from '../session/flags.ts';
import { currentSession, onSessionChange, type Session } from '../session/session.ts';
import { useNow } from '../time/use-time.ts';
import { clockAhead, type Entry, findMergedInto, sendEntry } from './send.ts';
import { type StoredEntry, unsent, withEntries } from './stored.ts';

/** An entry that the service has not accepted yet. */
export interface Waiting extends Pick<StoredEntry, 'entry' | 'writtenAt' | 'refused'> {
  /** Its number in this browser; entries are sent in this order. */
  readonly id: number;
}

/** What the user has written and not sent, and the entry that is being sent. */
export interface OutboxState {
  readonly waiting: readonly Waiting[];
  /** @param share how much of it is sent, from 0 to 1 */
  readonly sending: { readonly id: number; readonly share: number } | null;
  /** How many entries this tab has sent. */
  readonly sent: number;
}

const NAME = 'gantry.outbox';

/** While entries wait, sending them is tried again after this time, in milliseconds. */
const AGAIN_MS = 15_000;
/** An entry at which the service itself, or a proxy, fails so often is shown as refused, so that it does not hold up the others. */
const MAX_FAILURES = 5;

/** Makes an idempotency key. Not `randomUUID`, which browsers have only with TLS. */
const newKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');

/**
 * What was written while the service could not be reached. It is stored in this browser and sent in order, by one tab at
 * a time, once the service can be reached and its user is signed in.
 */
class Outbox {
  #state: OutboxState = { waiting: [], sending: null, sent: 0 };
  readonly #listeners = new Set<() => void>();
  readonly #channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(NAME) : null;
  #last: Promise<void> = Promise.resolve();
  /** Sending that has not started. */
  #queued: Promise<void> | null = null;
  /** Why entries were refused that this tab has sent. */
  readonly #refusals = new Map<number, unknown>();

  constructor() {
    const lookAgain = () => void this.#read();
    this.#channel?.addEventListener('message', lookAgain);
    onSessionChange(() => void this.#read().then(() => this.send()));
    addEventListener('online', () => void this.send());
    let wasLive = currentConnection().state === 'live';
    onConnectionChange(() => {
      const isLive = currentConnection().state === 'live';
      if (isLive && !wasLive) void this.send();
      wasLive = isLive;
    });
    setInterval(
      () => this.#state.waiting.some(({ refused }) => refused === null) && void this.send(),
      AGAIN_MS,
    );
    void this.#read().then(() => this.send());
  }

  /**
   * Stores an entry of the user, and sends it as soon as possible.
   * @returns its number
   * @throws DOMException if the storage of the browser is full or switched off
   */
  async add(entry: Entry): Promise<number> {
    const userId = currentSession()?.user.id;
    if (userId === undefined) throw new Error('Nobody is signed in');
    const stored: StoredEntry = {
      userId,
      key: newKey(),
      writtenAt: Date.now(),
      entry,
      refused: null,
      failures: 0,
    };
    let id = 0;
    await withEntries('readwrite', (store) => {
      const request = store.add(stored);
      request.onsuccess = () => {
        id = Number(request.result);
      };
    });
    await this.#changed();
    void this.send();
    return id;
  }

  /**
   * Sends an entry after those that wait or, if the service cannot be reached, keeps it.
   * @throws the refusal of the service; the entry is not kept then
   */
  async deliver(entry: Entry): Promise<'sent' | 'waits'> {
    const id = await this.add(entry).catch(() => null);
    if (id === null) return sendUnkept(entry);
    await this.#last;
    const own = this.#state.waiting.find((each) => each.id === id);
    if (!own) return 'sent';
    if (own.refused === null) return 'waits';
    const refusal = this.#refusals.get(id) ?? new Error(own.refused);
    await this.drop(id);
    throw refusal;
  }

  /** Drops an entry. @returns a function that puts it back */
  async drop(id: number): Promise<() => Promise<void>> {
    let dropped: StoredEntry | undefined;
    await withEntries('readwrite', (store) => {
      const request = store.get(id) as IDBRequest<StoredEntry | undefined>;
      request.onsuccess = () => {
        dropped = request.result;
        store.delete(id);
      };
    });
    await this.#changed();
    return async () => {
      if (dropped) await withEntries('readwrite', (store) => void store.put(dropped, id));
      await this.#changed();
      void this.send();
    };
  }

  /** Sends what waits, after what other tabs are sending. */
  send(): Promise<void> {
    const work = () => this.#sendAll();
    // What is added while entries are being sent may come too late for that.
    this.#queued ??= this.#last
      .then(() => {
        this.#queued = null;
        return navigator.locks ? navigator.locks.request(NAME, work) : work();
      })
      .catch(() => undefined);
    this.#last = this.#queued;
    return this.#queued;
  }

  get = (): OutboxState => this.#state;

  subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  };

  #set(state: Partial<OutboxState>): void {
    this.#state = { ...this.#state, ...state };
    for (const listener of this.#listeners) listener();
  }

  async #changed(): Promise<void> {
    this.#channel?.postMessage('changed');
    await this.#read();
  }

  async #read(): Promise<void> {
    const userId = currentSession()?.user.id;
    const found = userId === undefined ? [] : await listOf(userId).catch(() => []);
    // The user may have changed meanwhile.
    if (userId !== currentSession()?.user.id) return;
    if (userId !== undefined && (unsent.get()[userId] ?? 0) !== found.length)
      unsent.set({ ...unsent.get(), [userId]: found.length });
    this.#set({
      waiting: found.map(([id, { entry, writtenAt, refused }]) => ({ id, entry, writtenAt, refused })),
    });
  }

  async #sendAll(): Promise<void> {
    let ahead: number | null = null;
    for (;;) {
      const session = currentSession();
      if (!session || isSessionEnded()) return;
      const [next] = (await listOf(session.user.id)).filter(([, { refused }]) => refused === null);
      if (!next) return;
      ahead ??= await clockAhead();
      // The service cannot be reached.
      if (ahead === null) return;
      const [id, stored] = next;
      this.#set({ sending: { id, share: 0 } });
      const outcome = await this.#sendOne(session, id, stored, ahead).finally(() =>
        this.#set({ sending: null }),
      );
      await withEntries('readwrite', (store) => {
        if (outcome === 'sent') return void store.delete(id);
        // It may have been dropped meanwhile.
        const present = store.getKey(id);
        present.onsuccess = () => present.result !== undefined && store.put(outcome.stored, id);
      });
      if (outcome === 'sent') this.#set({ sent: this.#state.sent + 1 });
      await this.#changed();
      if (outcome !== 'sent' && outcome.isOver) return;
    }
  }

  /** @returns what is stored after a failure, and whether the others have to wait, too */
  async #sendOne(
    session: Session,
    id: number,
    stored: StoredEntry,
    ahead: number,
  ): Promise<'sent' | { readonly stored: StoredEntry; readonly isOver: boolean }> {
    const { entry, key, writtenAt } = stored;
    const onSent = (share: number) => this.#set({ sending: { id, share } });
    try {
      await sendEntry(session, entry, { key, writtenAt: new Date(writtenAt - ahead), onSent });
      void queryClient.invalidateQueries({
        queryKey: changedBy(entry),
      });
      return 'sent';
    } catch (error) {
      noticeRefusal(error, session.token);
      const failures = stored.failures + Number(isFailure(error));
      if (isFailure(error) ? failures < MAX_FAILURES : waitsAfter(error))
        return { stored: { ...stored, failures }, isOver: true };
      const into = 'incidentId' in entry ? await findMergedInto(session, entry.incidentId) : null;
      if (into !== null)
        return { stored: { ...stored, entry: { ...entry, incidentId: into } as Entry }, isOver: false };
      this.#refusals.set(id, error);
      return { stored: { ...stored, refused: sentenceOf(error).sentence }, isOver: false };
    }
  }
}

/** What an entry changes. */
function changedBy({ kind }: Entry): readonly unknown[] {
  if (kind === 'log') return service.log.pathKey();
  return kind === 'fault' ? service.faults.pathKey() : service.incidents.pathKey();
}

/** Sends an entry that cannot be kept, because this browser has no storage. */
async function sendUnkept(entry: Entry): Promise<'sent'> {
  const session = currentSession();
  if (!session) throw new Error('Nobody is signed in');
  await sendEntry(session, entry, { key: newKey(), writtenAt: null });
  return 'sent';
}

/** The entries of a user with their numbers, in order. */
async function listOf(userId: string): Promise<readonly (readonly [number, StoredEntry])[]> {
  const found: [number, StoredEntry][] = [];
  await withEntries('readonly', (store) => {
    const request = store.openCursor();
    request.onsuccess = () => {
      const cursor = request.result;
      if (!cursor) return;
      const stored = cursor.value as StoredEntry;
      if (stored.userId === userId) found.push([Number(cursor.key), stored]);
      cursor.continue();
    };
  });
  return found;
}

/** Whether the service failed, or a proxy refused the request, such as one that is too large for it. */
function isFailure(error: unknown): boolean {
  if (!(error instanceof GantryError)) return false;
  const { code, httpStatus = 0 } = error;
  return (
    code === 'INTERNAL_SERVER_ERROR' || (code === 'INVALID_RESPONSE' && httpStatus >= 400 && httpStatus < 500)
  );
}

/** Whether the entry may be accepted later: the service was not reached, or its user has to sign in first. */
function waitsAfter(error: unknown): boolean {
  if (!(error instanceof GantryError)) return false;
  return (
    isPassing(error) ||
    ['UNAUTHORIZED', 'INVALID_RESPONSE', 'ABORTED', 'TIMEOUT'].includes(error.code) ||
    error.message === SECOND_FACTOR_MISSING
  );
}

export const outbox = new Outbox();

/** What is sent within this time, in milliseconds, is not listed as waiting: it would only flicker. */
const AT_ONCE_MS = 1_500;

/** The entries of the user that wait for longer than a moment, or were refused, each with its place among all. */
export function useWaiting(): readonly (Waiting & { readonly n: number; readonly of: number })[] {
  const { waiting } = useOutbox();
  const now = useNow(waiting.length > 0 ? 500 : HOUR_MS);
  return waiting
    .map((each, at) => ({ ...each, n: at + 1, of: waiting.length }))
    .filter(({ refused, writtenAt }) => refused !== null || now - writtenAt > AT_ONCE_MS);
}

/** What the user has written and not sent. */
export function useOutbox(): OutboxState {
  return useSyncExternalStore(outbox.subscribe, outbox.get);
}
