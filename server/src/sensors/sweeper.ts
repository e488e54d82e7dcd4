import type { Core } from '../platform/context.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { startPeriodic } from '../platform/periodic.ts';
import type { Outbox } from '../realtime/publish.ts';
import type { PublicList } from './public-list.ts';
import { publishStatus } from './publish-status.ts';
import { silenceReason, silenceSensors } from './status-store.ts';

const FAILURE = 'silent sensors cannot be searched for now; the next run will try again';

type Parts = Pick<Core, 'db' | 'log'> & { readonly outbox: Outbox; readonly publicSensors: PublicList };

/** Looks once for sensors that are ONLINE and have sent no heartbeat for the given time. */
export async function sweepOnce(parts: Parts, timeoutSeconds: number): Promise<void> {
  const { db, log, publicSensors } = parts;
  const silenced = await inTransaction(db, async (tx) => {
    const outcomes = await silenceSensors(tx, timeoutSeconds);
    await publishStatus(parts, tx, outcomes, silenceReason(timeoutSeconds));
    return outcomes.length;
  });
  if (silenced === 0) return;
  publicSensors.forget();
  log.info({ sensors: silenced }, 'sensors have gone silent');
}

/** Looks for silent sensors again and again until it is disposed of; disposing waits for the current round. */
export function startSweeper(parts: Parts & Pick<Core, 'timings'>, timeoutSeconds: number): AsyncDisposable {
  return startPeriodic({ everyMs: parts.timings.sweepSensorsMs, log: parts.log, failure: FAILURE }, () =>
    sweepOnce(parts, timeoutSeconds),
  );
}
