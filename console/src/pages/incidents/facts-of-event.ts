import type { EventDetail } from '@gantry/contract/events';
import type { IncidentType } from '@gantry/contract/incidents';
import { incidentTypes } from '@gantry/contract/values';
import { useTranslation } from 'react-i18next';
import type { IncidentFacts } from './incident-fields.tsx';
import type { Beginning } from './use-incidents-search.ts';

/** Maximum length of a title in the service, in characters. */
const TITLE_MAX = 200;

/** The incident type that the violation type of an event names, otherwise its metadata, as in the service. */
export function incidentTypeOf(
  event: Pick<EventDetail, 'violationType' | 'metadata'>,
): IncidentType | undefined {
  return typeNamed(event.violationType) ?? typeNamed(event.metadata?.incidentType);
}

function typeNamed(given: unknown): IncidentType | undefined {
  const name = typeof given === 'string' ? given.trim().toUpperCase() : '';
  return name === 'WRONG_WAY' ? 'WRONG_WAY_DRIVER' : incidentTypes.find((type) => type === name);
}

/** Returns a function for the initial values of a new incident: those in the URL, otherwise those of the event. */
export function useFactsOf(): (beginning: Beginning, event: EventDetail | undefined) => IncidentFacts {
  const { t } = useTranslation(['common', 'events']);
  return ({ title, type, severity, sensorId, locationId, latitude, longitude }, event) => {
    const kind = type ?? (event && incidentTypeOf(event)) ?? 'OTHER';
    const place = event?.locationName ?? event?.sensorName;
    const what =
      kind === 'OTHER' && event ? t(`events:types.${event.eventType}`) : t(`common:incidentTypes.${kind}`);
    const suggested = event ? [what, event.licensePlateNumber, place].filter(Boolean).join(' · ') : '';
    const isPlaced = latitude !== undefined && longitude !== undefined;
    return {
      title: title ?? [...suggested].slice(0, TITLE_MAX).join(''),
      description: event?.description ?? null,
      type: kind,
      severity: severity ?? event?.severity ?? 'MEDIUM',
      lanesBlocked: null,
      location: isPlaced ? { latitude, longitude } : (event?.location ?? null),
      locationId: locationId ?? null,
      sensorId: sensorId ?? event?.sensorId ?? null,
    };
  };
}
