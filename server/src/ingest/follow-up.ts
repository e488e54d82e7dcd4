import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isBadRow } from '../database/failure.ts';
import type { Database } from '../database/pool.ts';
import { type Executor, inTransaction } from '../database/transaction.ts';
import { startRounds } from '../rounds.ts';
import type { EventRow } from './enrich.ts';
import { findEventRows, listLeftToFollowUp, takeToFollowUp } from './follow-up-store.ts';

/** Brings about what follows from events that were stored, outside the transaction that stores them. */
export interface FollowUp extends AsyncDisposable {
  /**
   * Takes on events that were committed and noted to be followed up.
   * @returns resolves when what follows from them is committed too, or after a second: then it is late
   */
  add(rows: readonly EventRow[]): Promise<void>;
}

export interface FollowUpParts {
  readonly db: Database;
  readonly log: Logger;
  readonly bringAbout: (tx: Executor, rows: readonly EventRow[]) => Promise<void>;
}

/** Between two transactions: what comes meanwhile is brought about together. */
const PAUSE_MS = 10;
const EVENTS_AT_ONCE = 1_000;
/** Groups beyond this are not kept in memory; they are found in the database later. */
const MOST_WAITING = 1_000;
/** Events that nobody followed up for so long were left by a process that died, or by a failure. */
const LEFT_AFTER_SECONDS = 5;
const LOOK_MS = 2_000;
/** Longer than this nobody's acknowledgement waits for what follows. */
const PATIENCE_MS = 1_000;

/** Events that came together, and who waits for what follows from them. */
interface Batch {
  readonly rows: readonly EventRow[];
  readonly done: () => void;
}

/**
 * Follows events up a moment after their commit, many at once. They are on a list in the database until the transaction
 * that brings about what follows from them, so that this happens once, whatever fails meanwhile.
 */
export const startFollowUp = ({ db, log, bringAbout }: FollowUpParts): FollowUp => {
  let waiting: Batch[] = [];
  let running: Promise<void> | null = null;
  let stopped = false;

  const followTogether = (rows: readonly EventRow[]): Promise<void> =>
    inTransaction(db, async (tx) => {
      const ours = await takeToFollowUp(
        tx,
        rows.map(({ id }) => id),
      );
      await bringAbout(
        tx,
        rows.filter(({ id }) => ours.has(id)),
      );
    });

  /** One event of which the database will not have what follows must not keep others back: halves are tried. */
  const follow = async (rows: readonly EventRow[]): Promise<void> => {
    try {
      await followTogether(rows);
    } catch (err) {
      if (!isBadRow(err)) {
        log.warn(
          { err, events: rows.length },
          'what follows from some events has to wait: it is tried again',
        );
      } else if (rows.length > 1) {
        const middle = rows.length >> 1;
        await follow(rows.slice(0, middle));
        await follow(rows.slice(middle));
      } else {
        const ids = rows.map(({ id }) => id);
        log.error({ err, ids }, 'the database refused what follows from an event, which is left as it is');
        await takeToFollowUp(db, ids);
      }
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
      await follow(batches.flatMap(({ rows }) => rows));
      for (const { done } of batches) done();
      if (!stopped) await sleep(PAUSE_MS);
    }
    running = null;
  };

  const followLeft = async (): Promise<void> => {
    const ids = await listLeftToFollowUp(db, LEFT_AFTER_SECONDS, EVENTS_AT_ONCE);
    if (ids.length === 0) return;
    log.info({ events: ids.length }, 'events that were left behind are followed up');
    const rows = await findEventRows(db, ids);
    await follow(rows);
    const there = new Set(rows.map(({ id }) => id));
    await takeToFollowUp(
      db,
      ids.filter((id) => !there.has(id)),
    );
  };
  const looking = startRounds(
    {
      everyMs: LOOK_MS,
      log,
      failure: 'events that were left behind cannot be followed up now; the next round will',
    },
    followLeft,
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
};
