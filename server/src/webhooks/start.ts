import { channels } from '../platform/database/notify.ts';
import { startPeriodic } from '../platform/periodic.ts';
import { type Foundation, keepFresh } from '../platform/start.ts';
import { type AddressRules, createAddressRules } from './address.ts';
import { startDelivering } from './deliver.ts';
import { removeOldDeliveries } from './deliveries-store.ts';
import { createWebhookDispatch, type WebhookDispatch } from './dispatch.ts';
import { ATTEMPT_LIMIT_MS, createSender } from './send.ts';
import { listEnabledWebhooks } from './store.ts';

/** What this room adds to the service. */
export interface WebhookServices {
  readonly webhooks: WebhookDispatch;
  readonly webhookAddresses: AddressRules;
}

const REMOVAL_MS = 600_000;

/** Most old deliveries of a hook that are removed at once. */
const REMOVED_AT_ONCE = 10_000;

/** What other rooms need of webhooks to write deliveries; while the feature is off, there is none to write. */
export async function startWebhooks(foundation: Foundation): Promise<WebhookServices> {
  const { config, db, clock } = foundation.core;
  const webhooks = await createWebhookDispatch(
    async () => (areOn(foundation) ? listEnabledWebhooks(db) : []),
    clock.now,
  );
  keepFresh(foundation, channels.webhooks, webhooks.refresh, 'the webhooks could not be read again');
  return { webhooks, webhookAddresses: createAddressRules(config.WEBHOOK_ALLOW_HOSTS) };
}

/** Makes the deliveries. While the feature is off, what is pending stays so, and is made when it is on again. */
export function startDeliveries(foundation: Foundation, addresses: AddressRules): void {
  const {
    core: { db, log, clock, timings },
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
    startPeriodic({ everyMs: REMOVAL_MS, log, failure }, () => removeOldDeliveries(db, REMOVED_AT_ONCE)),
  );
}

function areOn({ core: { config } }: Foundation): boolean {
  return config.FEATURES.includes('webhooks');
}
