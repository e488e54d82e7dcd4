import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { StoredRow } from '../events/event-row.ts';
import { isBadRow, isDatabaseAway, isTimeout } from '../platform/database/failure.ts';
import type { Database } from '../platform/database/pool.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import { startPeriodic } from '../platform/periodic.ts';
import { TIMINGS, type Timings } from '../platform/timings.ts';
import {
  claimFollowUps,
  countLateFollowUp,
  findStoredRows,
  type LateFollowUp,
  type LeftToFollowUp,
  listOverdueFollowUps,
  postponeFollowUp,
} from './follow-up-store.ts';

/** Brings about what follows from events that were stored, outside the transaction that stores them. */
export interface FollowUp extends AsyncDisposable {
  /**
   * Takes on events that were committed and noted to be followed up.
   * @returns resolves when what follows from them is committed too, or after a second: then it is late
   */
  add(rows: readonly StoredRow[]): Promise<void>;
}

export interface FollowUpParts {
  readonly db: Database;
  readonly log: Logger;
  readonly applyEffects: (tx: Executor, rows: readonly StoredRow[]) => Promise<void>;
  readonly timings?: Pick<Timings, 'sweepFollowUpsMs' | 'countLateMs'>;
  /** Is told now and then what has waited too long. */
  readonly reportLate?: (late: LateFollowUp) => void;
}

/** Between two transactions: what comes meanwhile is brought about together. */
const PAUSE_MS = 10;
const EVENTS_AT_ONCE = 1_000;

/** Groups beyond this are not kept in memory; they are found in the database later. */
const MOST_WAITING = 1_000;

/** For so long a group that fails is halved and tried again at once; what then remains is put off. */
const HALVING_MS = 10_000;

/** What has waited for so long is late. */
const LATE_SECONDS = 60;

/** Longer than this nobody's acknowledgement waits for what follows. */
const PATIENCE_MS = 1_000;

/** Events that came together, and who waits for what follows from them. */
interface Batch {
  readonly rows: readonly StoredRow[];
  readonly done: () => void;
}

/**
 * Follows events up a moment after their commit, many at once. They are on a list in the database until the transaction
 * that brings about what follows from them, so that this happens once, whatever fails meanwhile.
 */
export function startFollowUp({
  db,
  log,
  applyEffects,
  reportLate,
  timings = TIMINGS,
}: FollowUpParts): FollowUp {
  let waiting: Batch[] = [];
  let running: Promise<void> | null = null;
  let stopped = false;

  const followTogether = (rows: readonly StoredRow[]): Promise<void> =>
    inTransaction(db, async (tx) => {
      const ours = await claimFollowUps(
        tx,
        rows.map(({ id }) => id),
      );
      await applyEffects(
        tx,
        rows.filter(({ id }) => ours.has(id)),
      );
    });

  /** The database refuses what follows from the event, and would again: that is all that can be done about it. */
  const giveUp = async (ids: readonly string[], err: unknown): Promise<void> => {
    log.error({ err, ids }, 'the database refused the follow-up of an event, which is abandoned');
    await claimFollowUps(db, ids);
  };

  const postpone = async (ids: readonly string[], err: unknown): Promise<void> => {
    log.warn({ err, events: ids.length }, 'the follow-up of some events is postponed');
    await postponeFollowUp(db, ids);
  };

  /**
   * One event that fails, in the database or in our own code, must not keep others back: halves are tried, for a while.
   * @param until when to stop halving, by the monotonic clock
   */
  const follow = async (rows: readonly StoredRow[], until: number): Promise<void> => {
    try {
      await followTogether(rows);
      return;
    } catch (err) {
      const ids = rows.map(({ id }) => id);
      // Nobody's fault: they stay as they are, and halves would fare no better.
      if (isDatabaseAway(err) && !isTimeout(err)) {
        log.warn({ err, events: ids.length }, 'the follow-up of some events waits for the database');
        return;
      }
      if (rows.length === 1 && isBadRow(err)) return giveUp(ids, err);
      if (rows.length === 1 || stopped || performance.now() > until) return postpone(ids, err);
    }
    const middle = rows.length >> 1;
    await follow(rows.slice(0, middle), until);
    await follow(rows.slice(middle), until);
  };

  /** Never throws: what cannot be followed up now is found in the database later. */
  const followOrLeave = async (rows: readonly StoredRow[]): Promise<void> => {
    try {
      await follow(rows, performance.now() + HALVING_MS);
    } catch (err) {
      log.warn(
        { err, events: rows.length },
        'some events could not be followed up; a later run will try again',
      );
    }
  };

  const takeBatches = (): readonly Batch[] => {
    let size = 0;
    const over = waiting.findIndex(({ rows }, index) => {
      size += rows.length;
      return index > 0 && size > EVENTS_AT_ONCE;
    });
    const taken = waiting.slice(0, over === -1 ? undefined : over);
    waiting = waiting.slice(taken.length);
    return taken;
  };

  const followWaiting = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batches = takeBatches();
      await followOrLeave(batches.flatMap(({ rows }) => rows));
      for (const { done } of batches) done();
      if (!stopped) await sleep(PAUSE_MS);
    }
    running = null;
  };

  const followGroup = async (ids: readonly string[]): Promise<void> => {
    const rows = await findStoredRows(db, ids).catch(async (err: unknown) => {
      if (isDatabaseAway(err) && !isTimeout(err)) throw err;
      await postpone(ids, err);
      return null;
    });
    if (rows === null) return;
    await followOrLeave(rows);
    const there = new Set(rows.map(({ id }) => id));
    const gone = ids.filter((id) => !there.has(id));
    if (gone.length > 0) await claimFollowUps(db, gone);
  };

  let countedAt = Number.NEGATIVE_INFINITY;
  const tellWhatIsLate = async (): Promise<void> => {
    if (!reportLate || performance.now() - countedAt < timings.countLateMs) return;
    countedAt = performance.now();
    reportLate(await countLateFollowUp(db, LATE_SECONDS));
  };

  const followUpOverdue = async (): Promise<void> => {
    await tellWhatIsLate();
    const left = await listOverdueFollowUps(db, EVENTS_AT_ONCE);
    if (left.length === 0) return;
    log.info({ events: left.length }, 'following up events that were left behind');
    for (const ids of inGroups(left)) if (!stopped) await followGroup(ids);
  };
  const looking = startPeriodic(
    {
      everyMs: timings.sweepFollowUpsMs,
      log,
      failure: 'events that were left behind cannot be followed up now; the next run will try again',
    },
    followUpOverdue,
  );

  return {
    add: (rows) =>
      new Promise((resolve) => {
        if (waiting.length >= MOST_WAITING) return resolve();
        const timer = setTimeout(resolve, PATIENCE_MS);
        const done = () => {
          clearTimeout(timer);
          resolve();
        };
        waiting.push({ rows, done });
        running ??= followWaiting();
      }),
    async [Symbol.asyncDispose]() {
      stopped = true;
      await Promise.all([running, looking[Symbol.asyncDispose]()]);
    },
  };
}

/** Of those that failed together only one may be to blame: each time they are tried in groups a quarter of the size. */
function inGroups(left: readonly LeftToFollowUp[]): readonly string[][] {
  const groups: { size: number; ids: string[] }[] = [];
  for (const { id, attempts } of left) {
    const size = Math.max(1, EVENTS_AT_ONCE >> Math.min(2 * attempts, 10));
    const last = groups.at(-1);
    if (last && last.size === size && last.ids.length < size) last.ids.push(id);
    else groups.push({ size, ids: [id] });
  }
  return groups.map(({ ids }) => ids);
}
