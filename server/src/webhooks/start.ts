import { z } from 'zod';
import type { AddressRules } from './address.ts';
import type { Deliverer } from './deliver.ts';
import type { WebhookDispatch } from './dispatch.ts';

/** What this room adds to the service. */
export interface WebhookServices {
  readonly webhooks: WebhookDispatch;
  readonly webhookAddresses: AddressRules;
}

const payload = z.object({ webhookId: z.string() });

/**
 * The job that a hook has deliveries that are due. It is done as soon as they are being made, so that a slow receiver
 * does not hold up the queue; a delivery that is not made in the end is due again by itself.
 */
export const deliverWebhooks =
  (deliverer: Pick<Deliverer, 'wake'>) =>
  async (given: unknown): Promise<void> => {
    deliverer.wake(payload.parse(given).webhookId);
  };

/** The same job while webhooks are switched off: what is pending stays so, and is found when they are switched on again. */
export const deliverNothing = async (): Promise<void> => undefined;
