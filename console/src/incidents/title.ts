import type { Incident, IncidentType } from '@gantry/contract/incidents';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';

/** The names that the service gives to types in the titles of incidents that it opens by itself. */
const NAMES: Readonly<Record<IncidentType, string>> = {
  COLLISION: 'Collision',
  BREAKDOWN: 'Breakdown',
  OBSTRUCTION: 'Obstruction',
  ROADWORKS: 'Roadworks',
  WEATHER: 'Weather',
  CONGESTION: 'Congestion',
  WRONG_WAY_DRIVER: 'Wrong-way driver',
  OTHER: 'Incident',
};

/**
 * Returns the title of an incident in the language of the user: if the service made it, the type and the place are put
 * into the words of that language; what a person or a device wrote stays as it is.
 */
export function useIncidentTitle(): (incident: Pick<Incident, 'title' | 'type'>) => string {
  const { t } = useTranslation(['incidents', 'common']);
  return useCallback(
    ({ title, type }) => {
      const start = `${NAMES[type]} at `;
      if (!title.startsWith(start)) return title;
      const what = type === 'OTHER' ? t('incidents:incident') : t(`common:incidentTypes.${type}`);
      return t('incidents:titleAt', { what, place: `\u2068${title.slice(start.length)}\u2069` });
    },
    [t],
  );
}
