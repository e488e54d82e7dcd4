import type { Logger } from 'pino';
import type { StoredRow } from '../events/event-row.ts';
import { findStoredRows } from '../events/store.ts';
import { isBadRow, isDatabaseAway, isTimeout } from '../platform/database/failure.ts';
import type { Nodes } from '../platform/database/nodes.ts';
import type { Database } from '../platform/database/pool.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import { startPeriodic } from '../platform/periodic.ts';
import { TIMINGS, type Timings } from '../platform/timings.ts';
import {
  claimFollowUps,
  countLateFollowUp,
  type LateFollowUp,
  type LeftToFollowUp,
  listOverdueFollowUps,
  postponeFollowUp,
} from './follow-up-store.ts';
import { sizeOf } from './queue.ts';

/** Applies the effects of stored events outside the transaction that stores them. */
export interface FollowUp extends AsyncDisposable {
  /**
   * Accepts events that were committed and listed for follow-up.
   * @returns resolves when their effects are committed, or after a second if that takes longer; at once if too many
   * events are waiting
   */
  add(rows: readonly StoredRow[]): Promise<void>;
}

export interface FollowUpParts {
  readonly db: Database;
  readonly nodes: Pick<Nodes, 'readCommitted'>;
  readonly log: Logger;
  readonly applyEffects: (tx: Executor, rows: readonly StoredRow[]) => Promise<void>;
  readonly timings?: Pick<Timings, 'sweepFollowUpsMs' | 'countLateMs'>;
  /** Called from time to time with the follow-ups that are late. */
  readonly reportLate?: (late: LateFollowUp) => void;
}

const EVENTS_AT_ONCE = 1_000;

/** Maximum size of waiting events, in characters. Further groups are not kept in memory; they are found in the database later. */
const MOST_WAITING = 64_000_000;

/** How long a group that fails is split and retried at once. Events that remain are postponed. */
const HALVING_MS = 10_000;

/** Follow-ups that have waited this long are counted as late. */
const LATE_SECONDS = 60;

/** Maximum time for which an acknowledgement waits for the effects of an event. */
const PATIENCE_MS = 1_000;

/** Events that arrived together, and a callback for when they have been followed up. */
interface Batch {
  readonly rows: readonly StoredRow[];
  /** In characters. */
  readonly size: number;
  readonly done: () => void;
}

/**
 * Follows up events shortly after their commit, many at once. The transaction that applies their effects removes them
 * from a list in the database, so that the effects are applied exactly once, whatever fails.
 */
export function startFollowUp({
  db,
  nodes,
  log,
  applyEffects,
  reportLate,
  timings = TIMINGS,
}: FollowUpParts): FollowUp {
  let waiting: Batch[] = [];
  let inProgress: readonly Batch[] = [];
  let waitingSize = 0;
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

  /** Abandons the follow-up of an event whose effects the database refuses: it would refuse them again. */
  const giveUp = async (ids: readonly string[], err: unknown): Promise<void> => {
    log.error({ err, ids }, 'the database refused the follow-up of an event, which is abandoned');
    await claimFollowUps(db, ids);
  };

  const postpone = async (ids: readonly string[], err: unknown): Promise<void> => {
    log.warn({ err, events: ids.length }, 'the follow-up of some events is postponed');
    await postponeFollowUp(db, ids);
  };

  /**
   * Splits a group that fails, for some time, so that one event that fails, in the database or in our own code, does
   * not block others.
   * @param until when to stop splitting, by the monotonic clock
   */
  const follow = async (rows: readonly StoredRow[], until: number): Promise<void> => {
    try {
      await followTogether(rows);
      return;
    } catch (err) {
      const ids = rows.map(({ id }) => id);
      // The cause is not in the events: they stay on the list, and splitting would not help.
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

  /** Never throws: events that cannot be followed up now are found in the database later. */
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
    for (const batch of taken) waitingSize -= batch.size;
    return taken;
  };

  const followWaiting = async (): Promise<void> => {
    while (waiting.length > 0) {
      inProgress = takeBatches();
      await followOrLeave(inProgress.flatMap(({ rows }) => rows));
      for (const { done } of inProgress) done();
    }
    inProgress = [];
    running = null;
  };

  const followGroup = async (ids: readonly string[]): Promise<void> => {
    const find = () => findStoredRows(db, ids);
    const rows = await nodes
      .readCommitted(find, ({ length }) => length === ids.length)
      .catch(async (err: unknown) => {
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

  /** The ids of the events that this process follows up anyway, one group after another, perhaps long after they are due. */
  const inHand = (): ReadonlySet<string> =>
    new Set([...inProgress, ...waiting].flatMap(({ rows }) => rows.map(({ id }) => id)));

  let countedAt = Number.NEGATIVE_INFINITY;
  const reportLateFollowUp = async (): Promise<void> => {
    if (!reportLate || performance.now() - countedAt < timings.countLateMs) return;
    countedAt = performance.now();
    reportLate(await countLateFollowUp(db, LATE_SECONDS));
  };

  const followUpOverdue = async (): Promise<void> => {
    await reportLateFollowUp();
    const due = await listOverdueFollowUps(db, EVENTS_AT_ONCE);
    const own = inHand();
    const overdue = due.filter(({ id }) => !own.has(id));
    if (overdue.length === 0) return;
    log.info({ events: overdue.length }, 'following up overdue events');
    for (const ids of inGroups(overdue)) if (!stopped) await followGroup(ids);
  };
  const looking = startPeriodic(
    {
      everyMs: timings.sweepFollowUpsMs,
      log,
      failure: 'overdue events cannot be followed up now; the next run will try again',
    },
    followUpOverdue,
  );

  return {
    add: (rows) =>
      new Promise((resolve) => {
        if (waitingSize >= MOST_WAITING) return resolve();
        const size = rows.reduce((sum, row) => sum + sizeOf(row), 0);
        const timer = setTimeout(resolve, PATIENCE_MS);
        const done = () => {
          clearTimeout(timer);
          resolve();
        };
        waiting.push({ rows, size, done });
        waitingSize += size;
        running ??= followWaiting();
      }),
    async [Symbol.asyncDispose]() {
      stopped = true;
      await Promise.all([running, looking[Symbol.asyncDispose]()]);
    },
  };
}

/**
 * Divides overdue events into groups that are followed up together. Perhaps only one of the events that failed together
 * is at fault, so the groups are a quarter of the size after each failed attempt.
 */
function inGroups(overdue: readonly LeftToFollowUp[]): readonly string[][] {
  const groups: { size: number; ids: string[] }[] = [];
  for (const { id, attempts } of overdue) {
    const size = Math.max(1, EVENTS_AT_ONCE >> Math.min(2 * attempts, 10));
    const last = groups.at(-1);
    if (last && last.size === size && last.ids.length < size) last.ids.push(id);
    else groups.push({ size, ids: [id] });
  }
  return groups.map(({ ids }) => ids);
}
