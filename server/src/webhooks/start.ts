import { channels } from '../platform/database/notify.ts';
import { AddressRules, ATTEMPT_LIMIT_MS } from '../platform/outbound.ts';
import { startPeriodic } from '../platform/periodic.ts';
import { type Foundation, keepFresh } from '../platform/start.ts';
import { startDelivering } from './deliver.ts';
import { countOpenDeliveries, REMOVED_AT_ONCE, removeOldDeliveries } from './deliveries-store.ts';
import { createWebhookDispatch, type WebhookDispatch } from './dispatch.ts';
import { createSender } from './send.ts';
import { listEnabledWebhooks } from './store.ts';

/** The services of this module. */
export interface WebhookServices {
  readonly webhooks: WebhookDispatch;
  readonly webhookUrls: AddressRules;
}

const REMOVAL_MS = 600_000;

/** The services that other modules need to create deliveries. While the feature is off, none are created. */
export async function startWebhooks(foundation: Foundation): Promise<WebhookServices> {
  const { config, db, clock } = foundation.core;
  const webhooks = await createWebhookDispatch(
    async () => (areOn(foundation) ? listEnabledWebhooks(db) : []),
    clock.now,
  );
  keepFresh(foundation, channels.webhooks, webhooks.refresh, 'the webhooks could not be reloaded');
  return { webhooks, webhookUrls: new AddressRules(config.WEBHOOK_ALLOW_HOSTS) };
}

/** Starts making deliveries. While the feature is off, pending ones are kept until it is on again. */
export function startDeliveries(foundation: Foundation, addresses: AddressRules): void {
  const {
    core: { db, log, clock, timings, metrics },
    listener,
    resources,
  } = foundation;
  if (areOn(foundation)) {
    const send = createSender(addresses, clock.now, timings);
    resources.use(
      startDelivering({
        db,
        log,
        listener,
        send,
        limitMs: ATTEMPT_LIMIT_MS,
        sweepMs: timings.sweepDeliveriesMs,
      }),
    );
  }
  const failure = 'old deliveries cannot be removed now';
  resources.use(
    startPeriodic({ everyMs: REMOVAL_MS, log, failure }, (isOver) =>
      removeOldDeliveries(db, REMOVED_AT_ONCE, isOver),
    ),
  );
  const uncounted = 'the deliveries cannot be counted for the metrics now';
  resources
    .use(
      startPeriodic({ everyMs: timings.countForMetricsMs, log, failure: uncounted }, async () => {
        const { pending, dead } = await countOpenDeliveries(db);
        metrics.deliveries.set({ state: 'pending' }, pending);
        metrics.deliveries.set({ state: 'dead' }, dead);
      }),
    )
    .startNow();
}

function areOn({ core: { config } }: Foundation): boolean {
  return config.FEATURES.includes('webhooks');
}
