import type { DeliveryKind } from '@gantry/contract/webhooks';
import { useTranslation } from 'react-i18next';

const keys = {
  'event.ingested': 'eventIngested',
  'event.violation': 'eventViolation',
  'incident.changed': 'incidentChanged',
  'sensor.statusChanged': 'sensorStatusChanged',
  'watchlist.alert': 'watchlistAlert',
  test: 'test',
} as const satisfies Record<DeliveryKind, string>;

/** Returns the display name of a kind of message. */
export function useKindName(): (kind: DeliveryKind) => string {
  const { t } = useTranslation('administration');
  return (kind) => t(`kinds.${keys[kind]}`);
}
