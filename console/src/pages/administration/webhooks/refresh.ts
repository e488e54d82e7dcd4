import type { WebhookKind } from '@gantry/contract/webhooks';
import { queryClient } from '../../../shared/service/queries.ts';
import { service } from '../../../shared/service/service.ts';

/** Invalidates all queries of `webhooks`. */
export function refreshWebhooks(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: service.webhooks.pathKey() });
}

/** The kinds of messages that a webhook can subscribe to, in the order of display. */
export const webhookKinds = [
  'event.ingested',
  'event.violation',
  'incident.changed',
  'sensor.statusChanged',
  'watchlist.alert',
] as const satisfies readonly WebhookKind[];
