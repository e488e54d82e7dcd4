import type { Logger } from 'pino';
import type { StoredRow } from '../events/event-row.ts';
import { findStoredRows } from '../events/store.ts';
import { isBadRow, isDatabaseAway, isTimeout } from '../platform/database/failure.ts';
import type { Nodes } from '../platform/database/nodes.ts';
import type { Database } from '../platform/database/pool.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import { GroupLoop, writeOrHalve } from '../platform/groups.ts';
import { type Rounds, startPeriodic } from '../platform/periodic.ts';
import { TIMINGS, type Timings } from '../platform/timings.ts';
import {
  claimFollowUps,
  countLateFollowUp,
  hasFollowUps,
  type LateFollowUp,
  type LeftToFollowUp,
  listOverdueFollowUps,
  postponeFollowUp,
} from './follow-up-store.ts';
import { sizeOf } from './queue.ts';

export interface FollowUpParts {
  readonly db: Database;
  readonly nodes: Pick<Nodes, 'readCommitted'>;
  readonly log: Logger;
  readonly applyEffects: (tx: Executor, rows: readonly StoredRow[]) => Promise<void>;
  readonly timings?: Pick<Timings, 'sweepFollowUpsMs' | 'countLateMs'>;
  /** Called from time to time with the follow-ups that are late. */
  readonly reportLate?: (late: LateFollowUp) => void;
}

const MAX_EVENTS_AT_ONCE = 1_000;

/** Maximum size of waiting events, in characters. Further groups are not kept in memory; they are found in the database later. */
const MAX_WAITING = 64_000_000;

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
 * Applies the effects of stored events outside the transaction that stores them, shortly after its commit, many at
 * once. The transaction that applies the effects removes the events from a list in the database, so that the effects
 * are applied exactly once, whatever fails. Disposing waits for the events that were accepted.
 */
export class FollowUp implements AsyncDisposable {
  readonly #parts: FollowUpParts;
  readonly #timings: Pick<Timings, 'sweepFollowUpsMs' | 'countLateMs'>;
  readonly #loop = new GroupLoop(
    () => this.#waiting.length > 0,
    () => this.#followWaiting(),
  );
  readonly #looking: Rounds;
  #waiting: Batch[] = [];
  #inProgress: readonly Batch[] = [];
  #waitingSize = 0;
  #countedAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  /** Begins to look for overdue events. */
  constructor(parts: FollowUpParts) {
    this.#parts = parts;
    this.#timings = parts.timings ?? TIMINGS;
    this.#looking = startPeriodic(
      {
        everyMs: this.#timings.sweepFollowUpsMs,
        restMs: 10 * this.#timings.sweepFollowUpsMs,
        log: parts.log,
        failure: 'overdue events cannot be followed up now; the next run will try again',
      },
      () => this.#followUpOverdue(),
    );
  }

  /**
   * Accepts events that were committed and listed for follow-up.
   * @returns resolves when their effects are committed, or after a second if that takes longer; at once if too many
   * events are waiting
   */
  add(rows: readonly StoredRow[]): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waitingSize >= MAX_WAITING) return resolve();
      this.#looking.rouse();
      const size = rows.reduce((sum, row) => sum + sizeOf(row), 0);
      const timer = setTimeout(resolve, PATIENCE_MS);
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.push({ rows, size, done });
      this.#waitingSize += size;
      this.#loop.wake();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    await Promise.all([this.#loop[Symbol.asyncDispose](), this.#looking[Symbol.asyncDispose]()]);
  }

  async #followWaiting(): Promise<void> {
    this.#inProgress = this.#takeBatches();
    await this.#follow(this.#inProgress.flatMap(({ rows }) => rows));
    for (const { done } of this.#inProgress) done();
    this.#inProgress = [];
  }

  #takeBatches(): readonly Batch[] {
    let size = 0;
    const over = this.#waiting.findIndex(({ rows }, index) => {
      size += rows.length;
      return index > 0 && size > MAX_EVENTS_AT_ONCE;
    });
    const taken = this.#waiting.slice(0, over === -1 ? undefined : over);
    this.#waiting = this.#waiting.slice(taken.length);
    for (const batch of taken) this.#waitingSize -= batch.size;
    return taken;
  }

  /**
   * Follows up events together. A group that fails is split for some time, so that one event that fails, in the
   * database or in our own code, does not block others. Never throws: events that cannot be followed up now are found
   * in the database later.
   */
  async #follow(rows: readonly StoredRow[]): Promise<void> {
    const until = performance.now() + HALVING_MS;
    try {
      await writeOrHalve(rows, {
        write: (group) => this.#followTogether(group),
        mayBeOne: (error) => !isWithoutDatabase(error) && !this.#stopped && performance.now() <= until,
        failed: (group, error) => this.#leave(group, error),
      });
    } catch (err) {
      this.#parts.log.warn(
        { err, events: rows.length },
        'some events could not be followed up; a later run will try again',
      );
    }
  }

  #followTogether(rows: readonly StoredRow[]): Promise<void> {
    return inTransaction(this.#parts.db, async (tx) => {
      const ours = await claimFollowUps(
        tx,
        rows.map(({ id }) => id),
      );
      await this.#parts.applyEffects(
        tx,
        rows.filter(({ id }) => ours.has(id)),
      );
    });
  }

  async #leave(rows: readonly StoredRow[], err: unknown): Promise<void> {
    const { db, log } = this.#parts;
    const ids = rows.map(({ id }) => id);
    if (isWithoutDatabase(err)) {
      log.warn({ err, events: ids.length }, 'the follow-up of some events waits for the database');
    } else if (ids.length === 1 && isBadRow(err)) {
      // The database would refuse its effects again.
      log.error({ err, ids }, 'the database refused the follow-up of an event, which is abandoned');
      await claimFollowUps(db, ids);
    } else {
      await this.#postpone(ids, err);
    }
  }

  async #postpone(ids: readonly string[], err: unknown): Promise<void> {
    this.#parts.log.warn({ err, events: ids.length }, 'the follow-up of some events is postponed');
    await postponeFollowUp(this.#parts.db, ids);
  }

  /** @returns whether any events are listed for follow-up, now or later */
  async #followUpOverdue(): Promise<boolean> {
    await this.#reportLate();
    const due = await listOverdueFollowUps(this.#parts.db, MAX_EVENTS_AT_ONCE);
    const own = this.#inHand();
    const overdue = due.filter(({ id }) => !own.has(id));
    if (overdue.length === 0) return due.length > 0 || (await hasFollowUps(this.#parts.db));
    this.#parts.log.info({ events: overdue.length }, 'following up overdue events');
    for (const ids of inGroups(overdue)) if (!this.#stopped) await this.#followGroup(ids);
    return true;
  }

  /** The ids of the events that this process follows up anyway, one group after another, perhaps long after they are due. */
  #inHand(): ReadonlySet<string> {
    return new Set([...this.#inProgress, ...this.#waiting].flatMap(({ rows }) => rows.map(({ id }) => id)));
  }

  async #followGroup(ids: readonly string[]): Promise<void> {
    const { db, nodes } = this.#parts;
    const rows = await nodes
      .readCommitted(
        () => findStoredRows(db, ids),
        ({ length }) => length === ids.length,
      )
      .catch(async (err: unknown) => {
        if (isWithoutDatabase(err)) throw err;
        await this.#postpone(ids, err);
        return null;
      });
    if (rows === null) return;
    await this.#follow(rows);
    const there = new Set(rows.map(({ id }) => id));
    const gone = ids.filter((id) => !there.has(id));
    if (gone.length > 0) await claimFollowUps(db, gone);
  }

  async #reportLate(): Promise<void> {
    const { db, reportLate } = this.#parts;
    if (!reportLate || performance.now() - this.#countedAt < this.#timings.countLateMs) return;
    this.#countedAt = performance.now();
    reportLate(await countLateFollowUp(db, LATE_SECONDS));
  }
}

/** Whether the cause is not in the events: they stay on the list, and splitting would not help. */
function isWithoutDatabase(error: unknown): boolean {
  return isDatabaseAway(error) && !isTimeout(error);
}

/**
 * Divides overdue events into groups that are followed up together. Perhaps only one of the events that failed together
 * is at fault, so the groups are a quarter of the size after each failed attempt.
 */
function inGroups(overdue: readonly LeftToFollowUp[]): readonly string[][] {
  const groups: { size: number; ids: string[] }[] = [];
  for (const { id, attempts } of overdue) {
    const size = Math.max(1, MAX_EVENTS_AT_ONCE >> Math.min(2 * attempts, 10));
    const last = groups.at(-1);
    if (last && last.size === size && last.ids.length < size) last.ids.push(id);
    else groups.push({ size, ids: [id] });
  }
  return groups.map(({ ids }) => ids);
}
