import type { Severity } from '@gantry/contract/events';
import { useTranslation } from 'react-i18next';
import { Badge, type Tone } from '../../ui/badge.tsx';
import type { IconName } from '../../ui/icon.tsx';

const looks: Readonly<Record<Severity, { tone: Tone; icon: IconName }>> = {
  LOW: { tone: 'low', icon: 'low' },
  MEDIUM: { tone: 'medium', icon: 'medium' },
  HIGH: { tone: 'high', icon: 'high' },
  CRITICAL: { tone: 'critical', icon: 'critical' },
};

/** The badge of a severity. Also used for the priority of watched plates. */
export function SeverityBadge({
  severity,
  filled,
}: {
  readonly severity: Severity;
  readonly filled?: boolean;
}) {
  const { t } = useTranslation('common');
  return (
    <Badge {...looks[severity]} filled={filled ?? severity === 'CRITICAL'}>
      {t(`severity.${severity}`)}
    </Badge>
  );
}
