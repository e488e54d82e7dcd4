import type { DeliveryStatus } from '@gantry/contract/webhooks';
import { useTranslation } from 'react-i18next';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import type { IconName } from '../../../ui/icon.tsx';

/** What is shown of a delivery: a pending one that has failed before has a colour and a text of its own. */
type ShownStatus = DeliveryStatus | 'RETRYING';

const looks: Readonly<Record<ShownStatus, { tone: Tone; icon: IconName }>> = {
  PENDING: { tone: 'low', icon: 'time' },
  RETRYING: { tone: 'high', icon: 'refresh' },
  DELIVERED: { tone: 'calm', icon: 'good' },
  DEAD: { tone: 'critical', icon: 'failure' },
};

export function shownStatus(status: DeliveryStatus, hasFailed: boolean): ShownStatus {
  return status === 'PENDING' && hasFailed ? 'RETRYING' : status;
}

export function DeliveryStatusBadge({
  status,
  hasFailed = false,
}: {
  readonly status: DeliveryStatus;
  readonly hasFailed?: boolean;
}) {
  const { t } = useTranslation('administration');
  const shown = shownStatus(status, hasFailed);
  return <Badge {...looks[shown]}>{t(`deliveryStatus.${shown}`)}</Badge>;
}
