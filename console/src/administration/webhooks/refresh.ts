import type { WebhookKind } from '@gantry/contract/webhooks';
import { queryClient } from '../../service/queries.ts';
import { service } from '../../service/service.ts';

/** Asks again for everything that is known of webhooks. */
export function refreshWebhooks(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: service.webhooks.pathKey() });
}

/** What a webhook can be notified of. */
export const webhookKinds = [
  'event.ingested',
  'event.violation',
  'incident.changed',
  'sensor.statusChanged',
  'watchlist.alert',
] as const satisfies readonly WebhookKind[];
