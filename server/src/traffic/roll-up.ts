import type { Logger } from 'pino';
import type { Database } from '../platform/database/pool.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { type Rounds, startPeriodic } from '../platform/periodic.ts';
import { judgeNext } from './quality/samples.ts';
import { convertDay } from './recount-store.ts';
import { countPending, rollUpQuarter, rollUpTraffic } from './roll-up-store.ts';

/**
 * How long after its end a quarter hour is added to the longer slots, in milliseconds. Events that arrive later cost
 * four times as much.
 */
const QUARTER_AFTER_MS = 120_000;

/** The limit of commit groups in one transaction at first, and the maximum while there are more. */
const FIRST_AT_ONCE = 200;
const MAX_AT_ONCE = 3_200;

/**
 * While transactions end within this time, the limit is doubled, because equal rows are stored once. At 3,900
 * events/s, one transaction in each round took 45 % less time than three that began with a low limit each time.
 */
const QUICK_MS = 1_000;

/** How often days of a sensor are judged before new traffic is rolled up again. */
const JUDGED_IN_ROUND = 10;

/**
 * Rolls up new traffic every few seconds, until it is disposed of; disposing waits for the current transaction. Figures
 * are correct without that; it makes them faster to read.
 * @param parts `now`: the time in Unix milliseconds; `zone`: the time zone of days; `everyMs`: the interval in milliseconds; `notePending`: is told
 *   the number of events that are not rolled up yet, before each transaction
 */
export function startTrafficRollUp({
  db,
  log,
  now,
  zone,
  everyMs,
  notePending,
}: {
  db: Database;
  log: Logger;
  now: () => number;
  zone: () => string;
  everyMs: number;
  notePending: (events: number) => void;
}): Rounds {
  let limit = FIRST_AT_ONCE;

  const rollUpSome = async (): Promise<{ isAll: boolean }> => {
    const asked = limit;
    // After a failure because of its duration, the next attempt must be smaller: groups of thousands of events spread over
    // weeks are slow.
    limit = Math.max(1, Math.min(FIRST_AT_ONCE, Math.floor(asked / 2)));
    const start = performance.now();
    const isAll = (await rollUpTraffic(db, asked)) < asked;
    const isQuick = performance.now() - start < QUICK_MS;
    if (isQuick) limit = isAll ? asked : Math.min(asked * 2, MAX_AT_ONCE);
    return { isAll };
  };

  return startPeriodic(
    {
      everyMs,
      restMs: 6 * everyMs,
      log,
      failure: 'traffic could not be rolled up now; the next run will try again',
    },
    async (isOver) => {
      let hasFound = false;
      while (!isOver()) {
        const pending = await countPending(db);
        notePending(pending);
        if (pending === 0) break;
        hasFound = true;
        if ((await rollUpSome()).isAll) break;
      }
      while (!isOver() && (await rollUpQuarter(db, now() - QUARTER_AFTER_MS))) hasFound = true;
      if (!isOver() && (await convertDay(db))) hasFound = true;
      for (let n = 0; n < JUDGED_IN_ROUND && !isOver(); n++) {
        if (!(await judgeNext(db, { log, zone: zone(), now: now() }))) break;
        hasFound = true;
      }
      return hasFound;
    },
  );
}

/** The events of five seconds at 4,000 events/s: about as many are pending at any time under load. */
const FEW_EVENTS = 20_000;

/**
 * The number of events that are not rolled up yet if they are too many to read many figures from one snapshot; otherwise
 * null. Each statement reads all groups of its range that were pending then, and those of an import contain events of
 * weeks: a report on 50 places after 500,000 events took PostgreSQL 87 s of processor time, and takes 5 s.
 */
export async function rollUpBacklog(db: Executor): Promise<number | null> {
  const events = await countPending(db);
  return events > FEW_EVENTS ? events : null;
}
