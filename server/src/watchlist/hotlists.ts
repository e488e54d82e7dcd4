import { confusableKey } from '@gantry/contract/plate';
import type { Logger } from 'pino';
import type { EventRow } from '../events/event-row.ts';
import type { Database } from '../platform/database/pool.ts';
import { nearKeys } from './hotlist-rules.ts';
import {
  type KeysSince,
  type ListedPattern,
  type ListVersion,
  listVersions,
  loadNearKeys,
  loadPatterns,
  readKeys,
} from './hotlists-store.ts';
import { createPlateMatcher } from './matching.ts';
import { PlateFilter } from './plate-filter.ts';

/** What of the hotlists is in memory. It decides which events are followed up, and may say yes to others. */
export interface Hotlists extends AsyncDisposable {
  /** Whether a plate may be on a list. False is certain for entries that were in force at the last `refresh`. */
  mayList(row: Pick<EventRow, 'plateKey'>): boolean;
  /** The patterns in force that a plate matches. */
  patternsOf(plateKey: string): readonly ListedPattern[];
  /** Whether any list tolerates one wrong, missing or additional character. */
  readonly isNear: boolean;
  /** The size of the filter in bytes. */
  readonly bytes: number;
  /** Reads what has changed. Resolves when all changes committed before the call apply, or when reading failed. */
  refresh(): Promise<void>;
  /** Resolves when everything has been read once. Until then, every plate may be on a list. */
  readonly loaded: Promise<void>;
}

/** A filter has room for this many times the keys that there are, and is built again if more have gone. */
const ROOM = 1.25;
/** Less than the first version of a list. */
const BEFORE_ALL = -1;
/** Keys that are few need no new filter. */
const FEW = 10_000;

interface Contents {
  filter: PlateFilter;
  /** The version of each list that it contains. */
  versions: ReadonlyMap<string, number>;
}

/** Reads the hotlists in the background, and then what changes. */
export function createHotlists(db: Database, log: Logger): Hotlists {
  let contents: Contents | null = null;
  let near: PlateFilter | null = null;
  /** The lists and versions that `near` contains. */
  let nearVersions = '';
  let patterns: (key: string) => readonly ListedPattern[] = () => [];
  let isOver = false;
  let reading: Promise<void> = Promise.resolve();
  let queued: Promise<void> | null = null;

  const addTo = (filter: PlateFilter, since: readonly KeysSince[]): Promise<void> =>
    readKeys(db, since, (keys) => {
      for (const { key } of keys) filter.add(key);
      return !isOver;
    });

  /** Adds all keys in force. What changes meanwhile has a later version, and is added next time. */
  const build = async (lists: readonly ListVersion[]): Promise<Contents> => {
    const filter = new PlateFilter(Math.ceil(ROOM * totalOf(lists)));
    await addTo(
      filter,
      lists.map(({ id }) => ({ hotlistId: id, version: BEFORE_ALL })),
    );
    return { filter, versions: versionsOf(lists) };
  };

  const addNew = async ({ filter, versions }: Contents, lists: readonly ListVersion[]): Promise<void> => {
    const since = lists.map(({ id, version }) => ({
      hotlistId: id,
      version: versions.get(id) ?? BEFORE_ALL,
      now: version,
    }));
    await addTo(
      filter,
      since.filter(({ version, now }) => version !== now),
    );
  };

  const readNear = async (lists: readonly ListVersion[]): Promise<void> => {
    const present = lists
      .flatMap(({ id, version, isOneOff }) => (isOneOff ? [`${id} ${version}`] : []))
      .sort()
      .join();
    if (present === nearVersions) return;
    const keys = present === '' ? [] : await loadNearKeys(db);
    // A read is looked up nine times: with twice the room, fewer are found by chance.
    const filter = new PlateFilter(2 * keys.length);
    for (const key of keys) filter.add(key);
    near = present === '' ? null : filter;
    nearVersions = present;
  };

  const read = async (): Promise<void> => {
    const lists = await listVersions(db);
    const isChanged =
      contents === null ||
      contents.versions.size !== lists.length ||
      lists.some(({ id, version }) => contents?.versions.get(id) !== version);
    if (contents !== null && isChanged) {
      await addNew(contents, lists);
      contents.versions = versionsOf(lists);
    }
    if (contents === null || isWorn(contents, lists)) contents = await build(lists);
    // Which lists tolerate what may change without a new version.
    await readNear(lists);
    patterns = createPlateMatcher(await loadPatterns(db));
  };

  const start = (): Promise<void> => {
    queued = null;
    reading = read().catch((err: unknown) => {
      if (!isOver) log.warn({ err }, 'the hotlists could not be read: trying again');
    });
    return reading;
  };

  // A read in progress may have started before the change. One more read after it serves all callers in the meantime.
  const refresh = (): Promise<void> => {
    queued ??= reading.then(start);
    return queued;
  };

  return {
    mayList({ plateKey }) {
      if (plateKey === null || plateKey === '') return false;
      if (contents === null) return true;
      if (contents.filter.added > 0 && contents.filter.mayHave(confusableKey(plateKey))) return true;
      const filter = near;
      if (filter?.added && nearKeys(plateKey).some((key) => filter.mayHave(key))) return true;
      return patterns(plateKey).length > 0;
    },
    patternsOf: (plateKey) => patterns(plateKey),
    get isNear() {
      // Not read yet: there may be one.
      return contents === null || near !== null;
    },
    get bytes() {
      return (contents?.filter.bytes ?? 0) + (near?.bytes ?? 0);
    },
    refresh,
    loaded: refresh(),
    async [Symbol.asyncDispose]() {
      isOver = true;
      await reading;
    },
  };
}

/** Whether too many keys have gone, or too many were added, for the filter to be of use. */
function isWorn({ filter }: Contents, lists: readonly ListVersion[]): boolean {
  const total = totalOf(lists);
  return filter.added > filter.capacity || filter.added > ROOM * total + FEW;
}

function totalOf(lists: readonly ListVersion[]): number {
  return lists.reduce((sum, { entryCount }) => sum + entryCount, 0);
}

function versionsOf(lists: readonly ListVersion[]): ReadonlyMap<string, number> {
  return new Map(lists.map(({ id, version }) => [id, version]));
}
