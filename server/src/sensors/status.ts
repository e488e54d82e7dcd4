import type { Core } from '../platform/context.ts';
import { channels, notify } from '../platform/database/notify.ts';
import { type Executor, inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { startPeriodic } from '../platform/periodic.ts';
import { type Outbox, publish } from '../realtime/publish.ts';
import {
  isAnySilent,
  recordSearch,
  type StatusOutcome,
  type StatusToSet,
  setStatuses,
  silenceSensors,
  takeTurn,
} from './status-store.ts';
import type { PublicList } from './view.ts';

const FAILURE = 'silent sensors cannot be searched for now; the next run will try again';

type Parts = Pick<Core, 'db' | 'log'> & { readonly outbox: Outbox; readonly publicSensors: PublicList };

/**
 * How long the search rests while no sensor is about to be silent. In seconds; short enough that it is not taken for
 * downtime.
 */
function restSeconds(timeoutSeconds: number): number {
  return shortestDowntime(timeoutSeconds) / 3;
}

/** A sensor may miss one heartbeat within the time-out, so shorter interruptions do no harm. In seconds. */
function shortestDowntime(timeoutSeconds: number): number {
  return Math.max(10, Math.floor(timeoutSeconds / 3));
}

/**
 * Looks once for sensors that are ONLINE and have been silent for the given time. After downtime of the service or the
 * database, it finds none until the service has run for that time.
 * @returns whether any sensor is about to be silent for so long
 */
export async function sweepOnce(parts: Parts, timeoutSeconds: number): Promise<boolean> {
  const { db, log, publicSensors } = parts;
  const { silenced, isSoon } = await inTransaction(db, async (tx) => {
    if (!(await takeTurn(tx))) return { silenced: 0, isSoon: true };
    const isLong = await recordSearch(tx, timeoutSeconds, shortestDowntime(timeoutSeconds));
    const outcomes = isLong ? await silenceSensors(tx, timeoutSeconds) : [];
    await publishChanges(parts, tx, outcomes);
    const isSoon = await isAnySilent(tx, timeoutSeconds - 2 * restSeconds(timeoutSeconds));
    return { silenced: outcomes.length, isSoon };
  });
  if (silenced > 0) {
    publicSensors.forget();
    log.info({ sensors: silenced }, 'sensors have gone silent');
  }
  return isSoon;
}

/** Looks for silent sensors again and again until it is disposed of; disposing waits for the current round. */
export function startSweeper(parts: Parts & Pick<Core, 'timings'>, timeoutSeconds: number): AsyncDisposable {
  const { log, timings } = parts;
  const everyMs = timings.sweepSensorsMs;
  const restMs = Math.max(everyMs, restSeconds(timeoutSeconds) * 1_000);
  return startPeriodic({ everyMs, restMs, log, failure: FAILURE }, () => sweepOnce(parts, timeoutSeconds));
}

/** Publishes changes of status, in the transaction that makes them. */
export function publishStatus(
  app: { readonly outbox: Outbox },
  tx: Executor,
  outcomes: readonly StatusOutcome[],
  reason: string,
): Promise<void> {
  return publishChanges(
    app,
    tx,
    outcomes.map((outcome) => ({ ...outcome, reason })),
  );
}

/**
 * Sets the status of sensors that the transaction has locked, by the service itself, and announces it. A sensor whose
 * status has changed in the meantime keeps it.
 * @param reason for the status history
 * @returns since when each has its new status, by id
 */
export async function setStatusOf(
  app: { readonly outbox: Outbox },
  tx: Transaction,
  wanted: readonly StatusToSet[],
  reason: string,
): Promise<ReadonlyMap<string, Date>> {
  if (wanted.length === 0) return new Map();
  const outcomes = await setStatuses(tx, wanted, reason);
  await publishStatus(app, tx, outcomes, reason);
  await notify(tx, channels.sensors, '*');
  return new Map(outcomes.map(({ sensorId, at }) => [sensorId, at]));
}

/** The same, for changes with a reason each. */
function publishChanges(
  app: { readonly outbox: Outbox },
  tx: Executor,
  changes: readonly (StatusOutcome & { readonly reason: string })[],
): Promise<void> {
  return publish(
    app,
    tx,
    changes.map((body) => ({ topic: 'sensors', body })),
  );
}
