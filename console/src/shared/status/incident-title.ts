import type { Incident } from '@gantry/contract/incidents';
import { incidentTypeNames } from '@gantry/contract/values';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';

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
