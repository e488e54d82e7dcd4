import type { Incident, IncidentStatus } from '@gantry/contract/incidents';
import { incidentTypeNames } from '@gantry/contract/values';
import { useCallback } from 'react';
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

/**
 * Returns the title of an incident in the language of the user: if the service made it, the type and the place are put
 * into the words of that language; what a person or a device wrote stays as it is.
 */
export function useIncidentTitle(): (incident: Pick<Incident, 'title' | 'type'>) => string {
  const { t } = useTranslation('common');
  return useCallback(
    ({ title, type }) => {
      const start = `${incidentTypeNames[type]} at `;
      if (!title.startsWith(start)) return title;
      const what = type === 'OTHER' ? t('automaticTitle.other') : t(`incidentTypes.${type}`);
      return t('automaticTitle.at', { what, place: `\u2068${title.slice(start.length)}\u2069` });
    },
    [t],
  );
}
