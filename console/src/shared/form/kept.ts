import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import { withStore } from '../../ui/database.ts';
import { currentSession } from '../session/session.ts';

/** What was entered into a form: its values by the names of its fields, and the ids of its images. */
interface Kept {
  /** When it was last changed, in milliseconds since 1970. */
  readonly at: number;
  readonly values: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
}

/** A file as it is stored, with its owner, so that signing out removes it. */
interface KeptFile {
  readonly userId: string;
  readonly at: number;
  readonly blob: Blob;
}

const PREFIX = 'gantry.kept';
/** What nobody came back for is removed after this time, in milliseconds. */
const MAX_AGE_MS = 7 * DAY_MS;

/**
 * The unsent input of the forms, which survives a reload, a crash and a phone that discards the tab. Texts are in local
 * storage, which is written at once, and images in IndexedDB. Everything belongs to a user, by an id that is unique
 * among all installations, and to the tab in which it was entered, so that two tabs with the same form keep two inputs.
 * A tab that is opened takes over what closed tabs have left.
 */
class KeptInput {
  readonly #tab: Promise<string>;
  #tabId: string;

  constructor() {
    this.#tabId = storedTab() ?? randomId();
    this.#tab = this.#claimTab();
  }

  /** Completes when the input of closed tabs has been taken over. To be awaited before the first form is shown. */
  async start(): Promise<void> {
    const tab = await this.#tab;
    const open = await openTabs();
    for (const key of this.#keys()) {
      const [, , userId = '', owner = ''] = key.split('.');
      const kept = readRecord(key);
      if (!kept || Date.now() - kept.at > MAX_AGE_MS) localStorage.removeItem(key);
      else if (owner !== tab && (open === null ? Date.now() - kept.at > HOUR_MS : !open.has(owner))) {
        const own = `${PREFIX}.${userId}.${tab}.${key.split('.').slice(4).join('.')}`;
        // What was entered in this tab is never replaced. The owner may also be a tab that is being reloaded.
        if (readRecord(own)) continue;
        localStorage.setItem(own, JSON.stringify(kept));
        localStorage.removeItem(key);
      }
    }
    void this.#removeUnused();
  }

  read(about: string): Kept | undefined {
    return readRecord(this.#keyOf(about));
  }

  /** @throws DOMException if the storage of the browser is full or switched off */
  write(about: string, change: Partial<Kept>): void {
    const before = this.read(about) ?? { values: {} };
    localStorage.setItem(this.#keyOf(about), JSON.stringify({ ...before, ...change, at: Date.now() }));
  }

  remove(about: string): void {
    const key = this.#keyOf(about);
    const { files = [] } = readRecord(key) ?? {};
    localStorage.removeItem(key);
    if (files.length > 0)
      void withFiles('readwrite', (store) => files.forEach((id) => void store.delete(id)));
  }

  /**
   * Stores the images of a form in place of those that are stored.
   * @throws DOMException if the storage of the browser is full or switched off
   */
  async writeFiles(about: string, blobs: readonly Blob[]): Promise<void> {
    const userId = currentSession()?.user.id ?? '';
    const at = Date.now();
    const known = new Set(this.read(about)?.files);
    const ids = blobs.map(idOf);
    if (ids.length === 0 && known.size === 0) return;
    await withFiles('readwrite', (store) => {
      for (const [n, id] of ids.entries())
        if (!known.delete(id)) store.put({ userId, at, blob: blobs[n] } satisfies Partial<KeptFile>, id);
      for (const id of known) store.delete(id);
    });
    this.write(about, { files: ids });
  }

  /** The stored images of a form; none if they cannot be read. */
  async readFiles(about: string): Promise<readonly Blob[]> {
    const { files = [] } = this.read(about) ?? {};
    if (files.length === 0) return [];
    const found: Blob[] = [];
    await withFiles('readonly', (store) => {
      for (const [n, id] of files.entries()) {
        const request = store.get(id) as IDBRequest<KeptFile | undefined>;
        request.onsuccess = () => {
          if (!request.result) return;
          found[n] = request.result.blob;
          ids.set(request.result.blob, id);
        };
      }
    }).catch(() => undefined);
    return found.filter(Boolean);
  }

  /** Removes all input of a user, in all tabs. */
  async removeAllOf(userId: string): Promise<void> {
    for (const key of this.#keys()) if (key.startsWith(`${PREFIX}.${userId}.`)) localStorage.removeItem(key);
    await this.#removeFiles(({ userId: owner }) => owner === userId);
  }

  #keyOf(about: string): string {
    return `${PREFIX}.${currentSession()?.user.id ?? ''}.${this.#tabId}.${about}`;
  }

  #keys(): string[] {
    return Object.keys(localStorage).filter((key) => key.startsWith(`${PREFIX}.`));
  }

  async #removeUnused(): Promise<void> {
    const used = new Set(this.#keys().flatMap((key) => readRecord(key)?.files ?? []));
    // A file is stored before it is named by an input.
    await this.#removeFiles(({ at }, id) => !used.has(id) && Date.now() - at > DAY_MS);
  }

  async #removeFiles(isGone: (file: KeptFile, id: string) => boolean): Promise<void> {
    await withFiles('readwrite', (store) => {
      const request = store.openCursor();
      request.onsuccess = () => {
        const cursor = request.result;
        if (!cursor) return;
        if (isGone(cursor.value as KeptFile, String(cursor.key))) cursor.delete();
        cursor.continue();
      };
    }).catch(() => undefined);
  }

  /** Holds a lock while the tab is open. A duplicate of a tab has the same session storage, and takes a new id. */
  async #claimTab(): Promise<string> {
    const isFree = await holdLock(`${PREFIX}.tab.${this.#tabId}`);
    if (!isFree) {
      this.#tabId = randomId();
      await holdLock(`${PREFIX}.tab.${this.#tabId}`);
    }
    try {
      sessionStorage.setItem(`${PREFIX}.tab`, this.#tabId);
    } catch {
      // Without storage, nothing is kept.
    }
    return this.#tabId;
  }
}

function storedTab(): string | null {
  try {
    return sessionStorage.getItem(`${PREFIX}.tab`);
  } catch {
    return null;
  }
}

/** How long the page before a reload may take to release its lock, in milliseconds. */
const RELEASE_MS = 500;

/** @returns whether the lock became free; without the Web Locks API, as over plain HTTP, always true */
function holdLock(name: string): Promise<boolean> {
  if (!('locks' in navigator)) return Promise.resolve(true);
  return new Promise((resolve) => {
    navigator.locks
      .request(name, { signal: AbortSignal.timeout(RELEASE_MS) }, () => {
        resolve(true);
        return new Promise(() => undefined);
      })
      .catch(() => resolve(false));
  });
}

/** The ids of the tabs that are open; null if the browser does not tell, where input of an hour ago is taken over. */
async function openTabs(): Promise<ReadonlySet<string> | null> {
  if (!('locks' in navigator)) return null;
  const { held = [] } = await navigator.locks.query();
  return new Set(held.map(({ name = '' }) => name.slice(`${PREFIX}.tab.`.length)));
}

function readRecord(key: string): Kept | undefined {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
    return typeof kept === 'object' && kept !== null && 'values' in kept ? (kept as Kept) : undefined;
  } catch {
    return undefined;
  }
}

const randomId = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** The ids under which images are stored. */
const ids = new WeakMap<Blob, string>();

function idOf(blob: Blob): string {
  const id = ids.get(blob) ?? randomId();
  ids.set(blob, id);
  return id;
}

const withFiles = (mode: IDBTransactionMode, run: (store: IDBObjectStore) => void): Promise<void> =>
  withStore({ database: 'gantry', store: 'kept-files' }, mode, run);

export const keptInput = new KeptInput();
