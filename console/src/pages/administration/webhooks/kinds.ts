import type { DeliveryKind, DeliveryStatus, WebhookKind } from '@gantry/contract/webhooks';
import { useTranslation } from 'react-i18next';
import { queryClient } from '../../../shared/service/queries.ts';
import { service } from '../../../shared/service/service.ts';

const keys = {
  'event.ingested': 'eventIngested',
  'event.violation': 'eventViolation',
  'incident.changed': 'incidentChanged',
  'sensor.statusChanged': 'sensorStatusChanged',
  'watchlist.alert': 'watchlistAlert',
  activity: 'activity',
  'case.changed': 'caseChanged',
  test: 'test',
} as const satisfies Record<DeliveryKind, string>;

/** Returns the display name of a kind of message. */
export function useKindName(): (kind: DeliveryKind) => string {
  const { t } = useTranslation('administration');
  return (kind) => t(`kinds.${keys[kind]}`);
}

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
  'activity',
  'case.changed',
] as const satisfies readonly WebhookKind[];

/**
 * The key of the text for the status of a delivery: one that is pending and has failed before has a text and a look of
 * its own.
 */
export function deliveryState(status: DeliveryStatus, hasFailed: boolean) {
  return `deliveryStatus.${status === 'PENDING' && hasFailed ? 'RETRYING' : status}` as const;
}
