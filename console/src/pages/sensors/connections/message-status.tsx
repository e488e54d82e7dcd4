import type { MessageStatus } from '@gantry/contract/connections';
import { useTranslation } from 'react-i18next';
import { Badge, type Look } from '../../../ui/badge.tsx';

/** Tone and icon of each status. Only those that need attention stand out. */
const looks: Readonly<Record<MessageStatus, Look>> = {
  RECEIVED: { tone: 'low', icon: 'time' },
  STORED: { tone: 'calm', icon: 'good' },
  DUPLICATE: { tone: 'calm', icon: 'copy' },
  HELD: { tone: 'low', icon: 'time' },
  ALIVE: { tone: 'calm', icon: 'activity' },
  AGGREGATE: { tone: 'calm', icon: 'chart' },
  IGNORED: { tone: 'calm', icon: 'none' },
  UNKNOWN_DEVICE: { tone: 'medium', icon: 'help' },
  REFUSED: { tone: 'high', icon: 'failure' },
  FAILED: { tone: 'critical', icon: 'critical' },
};

export function MessageStatusBadge({ status }: { readonly status: MessageStatus }) {
  const { t } = useTranslation('connections');
  return <Badge {...looks[status]}>{t(`statuses.${status}`)}</Badge>;
}
