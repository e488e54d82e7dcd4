import type { DeliveryStatus } from '@gantry/contract/webhooks';
import { useTranslation } from 'react-i18next';
import { Badge, type Tone } from '../../ui/badge.tsx';
import type { IconName } from '../../ui/icon.tsx';

const looks: Readonly<Record<DeliveryStatus, { tone: Tone; icon: IconName }>> = {
  PENDING: { tone: 'low', icon: 'time' },
  DELIVERED: { tone: 'calm', icon: 'good' },
  DEAD: { tone: 'critical', icon: 'failure' },
};

/** The key of the text for a status; a pending delivery that has failed before has one of its own. */
export function keyOfStatus(status: DeliveryStatus, hasFailed: boolean) {
  return status === 'PENDING' && hasFailed
    ? ('deliveryStatus.RETRYING' as const)
    : (`deliveryStatus.${status}` as const);
}

/** The status of a delivery. A pending delivery that has failed before has a colour and a text of its own. */
export function DeliveryStatusBadge({
  status,
  hasFailed = false,
}: {
  readonly status: DeliveryStatus;
  readonly hasFailed?: boolean;
}) {
  const { t } = useTranslation('administration');
  const look =
    status === 'PENDING' && hasFailed ? { tone: 'high' as const, icon: 'refresh' as const } : looks[status];
  return <Badge {...look}>{t(keyOfStatus(status, hasFailed))}</Badge>;
}
