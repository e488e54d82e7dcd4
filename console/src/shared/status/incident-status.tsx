import type { IncidentStatus } from '@gantry/contract/incidents';
import { useTranslation } from 'react-i18next';
import { Badge, type Tone } from '../../ui/badge.tsx';
import type { IconName } from '../../ui/icon.tsx';

/** The appearance of each incident status. Incidents that wait for somebody stand out; those taken care of do not. */
export const incidentLooks: Readonly<Record<IncidentStatus, { tone: Tone; icon: IconName }>> = {
  OPEN: { tone: 'high', icon: 'alert' },
  ACKNOWLEDGED: { tone: 'medium', icon: 'acknowledge' },
  IN_PROGRESS: { tone: 'low', icon: 'maintenance' },
  RESOLVED: { tone: 'calm', icon: 'good' },
  CLOSED: { tone: 'calm', icon: 'none' },
};

export function IncidentStatusBadge({ status }: { readonly status: IncidentStatus }) {
  const { t } = useTranslation('common');
  return <Badge {...incidentLooks[status]}>{t(`incidentStatus.${status}`)}</Badge>;
}
