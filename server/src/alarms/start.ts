import { channels } from '../platform/database/notify.ts';
import { startPeriodic, startPeriodicIfNeeded } from '../platform/periodic.ts';
import type { Foundation } from '../platform/start.ts';
import { UsualHours } from './gather.ts';
import { type Announce, doRound } from './rounds.ts';
import { hasWork, removeOld } from './rounds-store.ts';

const REMOVAL_MS = 3_600_000;
/** Maximum number of rows that a removal takes from each table. */
const REMOVED_AT_ONCE = 10_000;

/**
 * Evaluates the rules of alarms in one process at a time. Without enabled rules and open groups, nothing is done until a
 * change is announced.
 */
export function startAlarms({ core, listener, resources }: Foundation, announce: Announce): void {
  const { db, log, timings } = core;
  const usual = new UsualHours();
  const everyMs = timings.evaluateAlarmsMs;
  const failure = 'alarm rules cannot be evaluated now; the next round will try again';
  const { rouse } = resources.use(
    startPeriodicIfNeeded({ everyMs, log, failure, isNeeded: () => hasWork(db) }, () =>
      doRound({ ...core, announce, usual, everyMs }),
    ),
  );
  listener.on(channels.alarms, rouse, rouse);
  const uncleared = 'old alarms cannot be removed now; the next run will try again';
  resources.use(
    startPeriodic({ everyMs: REMOVAL_MS, log, failure: uncleared }, () => removeOld(db, REMOVED_AT_ONCE)),
  );
}
