import type { RetentionRun } from '@gantry/contract/storage';
import { useTranslation } from 'react-i18next';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import type { IconName } from '../../../ui/icon.tsx';

const looks: Readonly<Record<RetentionRun['status'], { tone: Tone; icon: IconName }>> = {
  RUNNING: { tone: 'low', icon: 'refresh' },
  COMPLETED: { tone: 'calm', icon: 'good' },
  STOPPED: { tone: 'medium', icon: 'none' },
  FAILED: { tone: 'critical', icon: 'failure' },
};

export function RunStatusBadge({ status }: { readonly status: RetentionRun['status'] }) {
  const { t } = useTranslation('administration');
  return <Badge {...looks[status]}>{t(`runStatus.${status}`)}</Badge>;
}
