import { useTranslation } from 'react-i18next';
import { Badge, type Look } from '../../ui/badge.tsx';

/** The look of each state that the administration shows, by the key of its text. */
const looks = {
  'users.active': { tone: 'calm', icon: 'good' },
  'users.inactive': { tone: 'medium', icon: 'offline' },
  'holds.active': { tone: 'low', icon: 'hold' },
  'holds.released': { tone: 'calm', icon: 'none' },
  'runStatus.RUNNING': { tone: 'low', icon: 'refresh' },
  'runStatus.COMPLETED': { tone: 'calm', icon: 'good' },
  'runStatus.STOPPED': { tone: 'medium', icon: 'none' },
  'runStatus.FAILED': { tone: 'critical', icon: 'failure' },
  'webhooks.enabled': { tone: 'calm', icon: 'good' },
  'webhooks.disabled': { tone: 'medium', icon: 'muted' },
  'noticeStatus.PENDING': { tone: 'low', icon: 'time' },
  'noticeStatus.SENT': { tone: 'calm', icon: 'good' },
  'noticeStatus.FAILED': { tone: 'critical', icon: 'failure' },
  'noticeStatus.DROPPED': { tone: 'medium', icon: 'none' },
  'deliveryStatus.PENDING': { tone: 'low', icon: 'time' },
  'deliveryStatus.RETRYING': { tone: 'high', icon: 'refresh' },
  'deliveryStatus.DELIVERED': { tone: 'calm', icon: 'good' },
  'deliveryStatus.DEAD': { tone: 'critical', icon: 'failure' },
} as const satisfies Record<string, Look>;

/** The badge of a state of a user, a hold, a run, a webhook, or a delivery. */
export function StateBadge({ state }: { readonly state: keyof typeof looks }) {
  const { t } = useTranslation('administration');
  return <Badge {...looks[state]}>{t(state)}</Badge>;
}
