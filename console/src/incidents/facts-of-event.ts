import type { EventDetail } from '@gantry/contract/events';
import type { IncidentType } from '@gantry/contract/incidents';
import { incidentTypes } from '@gantry/contract/values';
import { useTranslation } from 'react-i18next';
import type { IncidentFacts } from './incident-fields.tsx';
import type { Beginning } from './use-incidents-search.ts';

/** The longest title that the service takes, in characters. */
const TITLE_MAX = 200;

/** Which type an event names, by its violation type or its metadata, as the service reads it. */
export function incidentTypeOf(
  event: Pick<EventDetail, 'violationType' | 'metadata'>,
): IncidentType | undefined {
  const named = [event.violationType, event.metadata?.incidentType].map((name) =>
    String(name ?? '')
      .trim()
      .toUpperCase(),
  );
  return incidentTypes.find(
    (type) => named.includes(type) || (type === 'WRONG_WAY_DRIVER' && named.includes('WRONG_WAY')),
  );
}

/** Tells what a new incident begins with: what the address says, and otherwise what the event says. */
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
