import { DAY_MS } from '@gantry/contract/durations';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { startPeriodic } from '../platform/periodic.ts';
import {
  alone,
  type MonthActivity,
  maintain,
  readMonthActivity,
  takeOver,
  type Work,
} from './upkeep-store.ts';

/** Fewer events per second than this count as a quiet time. */
const QUIET_RATE = 200;

/**
 * The number of changed rows, and their share of the other rows, from which a partition is vacuumed and analysed in a
 * quiet time.
 */
const SOME = { rows: 1_000, share: 0.1 };

/** The same while events are arriving: the planner's figures are then wrong by a factor of two at most. */
const MANY = { rows: 1_000, share: 1 };

/**
 * From this many new events on, a partition is vacuumed even if no time is quiet, because counts would visit too many
 * rows.
 */
const TOO_MANY = 50_000_000;

/** The pages, and their share of all, that may be left out when a month that is over is vacuumed for the last time. */
const LEFT = { pages: 100, share: 0.01 };

/** The time after the end of a month until which late events are expected, in milliseconds. */
const SETTLED_MS = DAY_MS;

/** Work that is due on a partition. */
export interface DueWork {
  readonly table: string;
  readonly work: Work;
}

/**
 * Decides what is due, the most urgent first.
 * @param rate events per second that are being stored; null when it is not known
 * @param now in Unix milliseconds
 */
export function dueWork(months: readonly MonthActivity[], rate: number | null, now: number): DueWork[] {
  const isQuiet = rate !== null && rate < QUIET_RATE;
  return months
    .flatMap((month) => {
      const work = dueOf(month, isQuiet, now);
      return work === null ? [] : { table: month.table, work };
    })
    .sort((a, b) => ORDER.indexOf(a.work) - ORDER.indexOf(b.work));
}

const ORDER: readonly Work[] = ['analyze', 'vacuum', 'freeze', 'index'];

function dueOf(month: MonthActivity, isQuiet: boolean, now: number): Work | null {
  const { rows, sinceVacuum, sinceAnalyze, pages, unvisited, until, lacksIndex } = month;
  // The share refers to the rows that existed before.
  const exceeds = (n: number, limit: typeof SOME): boolean =>
    n > limit.rows + limit.share * Math.max(0, rows - n);
  if (isQuiet && until + SETTLED_MS < now && unvisited > LEFT.pages + LEFT.share * pages) return 'freeze';
  if (isQuiet && exceeds(sinceVacuum, SOME)) return 'vacuum';
  if (sinceVacuum > TOO_MANY) return 'vacuum';
  if (exceeds(sinceAnalyze, isQuiet ? SOME : MANY)) return 'analyze';
  return isQuiet && lacksIndex ? 'index' : null;
}

export interface UpkeepParts {
  readonly pool: Pool;
  /** A connection for this purpose only, without a time limit for statements. */
  readonly own: Pool;
  readonly log: Logger;
  /** The time in Unix milliseconds. */
  readonly now: () => number;
  readonly everyMs: number;
}

/**
 * Vacuums and analyses the partitions of events, in quiet times and slowly, in place of autovacuum, which does so once a
 * minute under load. One process does it; disposing interrupts it.
 */
export function startUpkeep({ pool, own, log, now, everyMs }: UpkeepParts): AsyncDisposable {
  let before: { readonly inserted: number; readonly at: number } | null = null;

  const measureRate = (months: readonly MonthActivity[]): number | null => {
    const inserted = months.reduce((sum, month) => sum + month.inserted, 0);
    const at = performance.now();
    // The sum is smaller than before if a partition was dropped meanwhile.
    const rate =
      before && inserted >= before.inserted ? ((inserted - before.inserted) * 1000) / (at - before.at) : null;
    before = { inserted, at };
    return rate;
  };

  return startPeriodic(
    { everyMs, log, failure: 'the partitions of events cannot be maintained now; trying again later' },
    async (isOver) => {
      const months = await readMonthActivity(pool);
      const rate = measureRate(months);
      const foreign = months.filter(({ isOurs }) => !isOurs);
      const due = dueWork(months, rate, now());
      if (foreign.length + due.length === 0) return;
      const client = await own.connect();
      try {
        await alone(client, async () => {
          for (const { table } of foreign) await takeOver(client, table);
          for (const { table, work } of due) {
            if (isOver() || !(await maintain(pool, client, table, work, isOver))) return;
            log.debug({ table, work }, 'a partition of events was maintained');
          }
        });
      } finally {
        client.release(true);
      }
    },
  );
}
