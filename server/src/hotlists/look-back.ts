import type { LookBackInput } from '@gantry/contract/hotlists';
import { type HotlistLookBack, MAX_LOOK_BACK_PLATES } from '@gantry/contract/hotlists';
import { recordActivity } from '../activity/store.ts';
import type { StoredRow } from '../events/event-row.ts';
import { findStoredRows } from '../events/store.ts';
import { isDatabaseAway, isTransient } from '../platform/database/failure.ts';
import { createJobRunner, type JobRunner } from '../platform/database/jobs.ts';
import { channels, notify } from '../platform/database/notify.ts';
import type { Database } from '../platform/database/pool.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { AppError, found, invalidInput } from '../platform/error.ts';
import type { Foundation } from '../platform/start.ts';
import type { Outbox } from '../realtime/publish.ts';
import { findHits } from '../watchlist/find-hits.ts';
import { kindOfHit } from '../watchlist/hotlist-rules.ts';
import type { Hotlists } from '../watchlist/hotlists.ts';
import { raiseAlerts } from '../watchlist/raise-alerts.ts';
import {
  cancelLookBackRow,
  claimLookBack,
  EVENTS_AT_ONCE,
  failLookBack,
  findEntryIds,
  findLookBack,
  findPlateKeys,
  finishLookBack,
  insertLookBack,
  type LookBackRow,
  noteLookBack,
  pageOfReads,
  pageOfRecentReads,
  toLookBacks,
} from './look-backs-store.ts';
import type { HotlistContext } from './service.ts';
import { findList } from './store.ts';
import { variantsOf } from './variants.ts';

/**
 * Orders a search for entries of a list in past events, which takes a while.
 * @throws AppError `notFound`; `badRequest` when there are none, or too many
 */
export function orderLookBack(
  { app, actor, caller }: HotlistContext,
  { id, entryIds, version, days }: LookBackInput,
): Promise<HotlistLookBack> {
  return inTransaction(app.db, async (tx) => {
    const list = await findList(tx, actor, id);
    const ids = await findEntryIds(tx, list.id, { entryIds, version });
    const path = entryIds === undefined ? 'version' : 'entryIds';
    if (ids.length === 0) throw invalidInput(path, 'None of these entries is in force');
    if (ids.length > MAX_LOOK_BACK_PLATES)
      throw invalidInput(
        path,
        `This version added more than ${MAX_LOOK_BACK_PLATES} entries: name fewer in entryIds`,
      );
    const lookBackId = await insertLookBack(tx, {
      hotlistId: list.id,
      entryIds: ids,
      days,
      userId: actor.id,
    });
    const details = { hotlistId: list.id, name: list.name, lookBackId, count: ids.length, days };
    await recordActivity(tx, actor.id, caller, 'hotlists.lookBack', details);
    await notify(tx, channels.hotlistJobs, '');
    return found(await toLookBacks(tx, [await findLookBack(tx, lookBackId)]), 'Look-back');
  });
}

/** Ends a look-back that somebody ordered; what it found stays. @throws AppError `notFound`; `conflict` when it has finished */
export function cancelLookBack({ app, actor, caller }: HotlistContext, id: string): Promise<HotlistLookBack> {
  return inTransaction(app.db, async (tx) => {
    const row = await findLookBack(tx, id);
    const list = await findList(tx, actor, row.hotlist_id);
    if (row.kind === 'CHANGE')
      throw new AppError('conflict', 'Only a look-back that somebody ordered can be cancelled');
    if (!(await cancelLookBackRow(tx, row.id))) throw new AppError('conflict', 'The look-back has finished');
    const details = { hotlistId: list.id, name: list.name, lookBackId: row.id };
    await recordActivity(tx, actor.id, caller, 'hotlists.cancelLookBack', details);
    return found(await toLookBacks(tx, [await findLookBack(tx, row.id)]), 'Look-back');
  });
}

interface LookBackParts {
  readonly db: Database;
  readonly hotlists: Hotlists;
  readonly outbox: Outbox;
  readonly leaseMs: number;
}

/** Number of spellings for which one statement searches. */
const KEYS_AT_ONCE = 5_000;
/** Number of entries whose spellings are searched together: those of one may be two thousand. */
const ENTRIES_AT_ONCE = 25;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Searches past events for listed plates, one job at a time in each process. */
export function createLookBackRunner(
  { core: { db, log, timings } }: Pick<Foundation, 'core'>,
  parts: Pick<LookBackParts, 'hotlists' | 'outbox'>,
): JobRunner {
  const leaseMs = timings.hotlistLeaseMs;
  return createJobRunner<LookBackRow>({
    concurrency: 1,
    log,
    failure: 'past events cannot be searched for listed plates now; the next sweep will try again',
    claim: (_, most) => (most > 0 ? claimLookBack(db, leaseMs) : Promise.resolve([])),
    async perform(row, ending) {
      try {
        // Otherwise every plate may be listed.
        await parts.hotlists.refresh();
        const work = { ...parts, db, leaseMs };
        const isWhole =
          row.kind === 'CHANGE' ? await lookAtRecent(work, row, ending) : await lookAtPast(work, row, ending);
        if (isWhole) await finishLookBack(db, row, timings.hotlistChangeMs[1]);
      } catch (error) {
        if (isDatabaseAway(error) || isTransient(error)) throw error;
        await failLookBack(db, row, 'It failed; the log of the service has the cause');
        throw error;
      }
    },
  });
}

/** Compares the events that were stored in the last minutes. @returns false when it was interrupted */
async function lookAtRecent(parts: LookBackParts, row: LookBackRow, ending: AbortSignal): Promise<boolean> {
  const { db, hotlists, leaseMs } = parts;
  const listedAt = Date.parse(row.changed_at);
  let from = { at: row.starts_at, id: FIRST_ID };
  let [done, hits] = [0, 0];
  for (;;) {
    const page = await pageOfRecentReads(db, from);
    const possible = page.filter(({ plateKey }) => hotlists.mayList({ plateKey })).map(({ id }) => id);
    hits += await compare(parts, row, possible, (event) => kindOfHit(event.createdAt.getTime(), listedAt));
    done += page.length;
    if (!(await noteLookBack(db, row, { done, hits, leaseMs })) || ending.aborted) return false;
    const last = page.at(-1);
    if (!last || page.length < EVENTS_AT_ONCE) return true;
    from = last;
  }
}

/** Searches for the entries of a look-back that somebody ordered. @returns false when it was interrupted */
async function lookAtPast(parts: LookBackParts, row: LookBackRow, ending: AbortSignal): Promise<boolean> {
  const { db, leaseMs } = parts;
  const list = await findList(db, null, row.hotlist_id);
  const ids = row.entry_ids ?? [];
  const interval = { from: Date.parse(row.starts_at), until: Date.parse(row.ends_at) };
  let hits = 0;
  for (let at = 0; at < ids.length; at += ENTRIES_AT_ONCE) {
    const wanted = ids.slice(at, at + ENTRIES_AT_ONCE);
    const plates = await findPlateKeys(db, list.id, wanted);
    const keys = [...new Set(plates.flatMap(({ plateKey }) => variantsOf(list, plateKey)))];
    for (let key = 0; key < keys.length; key += KEYS_AT_ONCE) {
      const some = keys.slice(key, key + KEYS_AT_ONCE);
      for (let after: string | undefined = FIRST_ID; after !== undefined; ) {
        const page: string[] = await pageOfReads(db, some, { after, ...interval });
        hits += await compare(parts, row, page, () => 'LOOK_BACK', new Set(wanted));
        if (!(await noteLookBack(db, row, { done: at, hits, leaseMs })) || ending.aborted) return false;
        after = page.at(-1);
      }
    }
  }
  return noteLookBack(db, row, { done: ids.length, hits, leaseMs });
}

/** Number of events that are compared in one transaction. */
const COMPARED_AT_ONCE = 500;

/**
 * Raises the hits of stored events for the list of a look-back.
 * @param only the entries that are sought; undefined for all
 * @returns the number of reads that hit an entry, also if that was known
 */
async function compare(
  { db, hotlists, outbox }: LookBackParts,
  { hotlist_id: hotlistId }: LookBackRow,
  eventIds: readonly string[],
  kindOf: (row: StoredRow) => 'LIVE' | 'LOOK_BACK',
  only?: ReadonlySet<string>,
): Promise<number> {
  let count = 0;
  for (let at = 0; at < eventIds.length; at += COMPARED_AT_ONCE) {
    const rows = await findStoredRows(db, eventIds.slice(at, at + COMPARED_AT_ONCE));
    await inTransaction(db, async (tx) => {
      const hits = (await findHits(hotlists, tx, rows, kindOf)).filter(
        ({ listed, entry }) => listed?.hotlistId === hotlistId && (only?.has(entry.id) ?? true),
      );
      await raiseAlerts({ outbox }, tx, hits);
      count += hits.length;
    });
  }
  return count;
}
