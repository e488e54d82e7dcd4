import { channels, type Listener } from '../platform/database/notify.ts';
import { startJobs } from '../platform/jobs/jobs.ts';
import { startRounds } from '../platform/periodic.ts';
import { createDeliverer, type DelivererOptions } from './deliver.ts';
import { listDueWebhooks, removeOldDeliveries } from './sweep-store.ts';

export interface DeliveryOptions extends DelivererOptions {
  readonly listener: Pick<Listener, 'on'>;
  /** How often to look for deliveries that are due, in milliseconds: a retry is at most that late. */
  readonly sweepMs?: number;
}

const SWEEP_MS = 2_000;
const REMOVAL_MS = 600_000;
/** Most old deliveries of a hook that are removed at once. */
const REMOVED_AT_ONCE = 10_000;

/** Makes deliveries as soon as they are due. Disposing waits for the attempts under way. */
export const startDeliveries = ({ listener, sweepMs = SWEEP_MS, ...options }: DeliveryOptions) => {
  const runner = createDeliverer(options);
  return startJobs({
    runner,
    listener,
    channel: channels.deliveries,
    everyMs: sweepMs,
    log: options.log,
    failure: 'due deliveries cannot be looked for now; the next sweep will',
    async sweep() {
      for (const webhookId of await listDueWebhooks(options.db)) runner.wake(webhookId);
    },
  });
};

/** Removes deliveries that were made long ago, every ten minutes. */
export const startRemovingDeliveries = ({ db, log }: Pick<DelivererOptions, 'db' | 'log'>): AsyncDisposable =>
  startRounds({ everyMs: REMOVAL_MS, log, failure: 'old deliveries cannot be removed now' }, () =>
    removeOldDeliveries(db, REMOVED_AT_ONCE),
  );
