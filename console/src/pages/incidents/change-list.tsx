import type { IncidentTimelineEntry } from '@gantry/contract/incidents';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';

type Entry = Pick<IncidentTimelineEntry, 'action' | 'details'>;

/** The changes of a timeline entry: the old and new values of fields, why it is over, and the attached events. */
export function ChangeList({ action, details }: Entry) {
  const { t } = useTranslation('incidents');
  if (details === null) return null;
  const changes = Object.entries(details).filter(
    (change): change is [FieldName, Change] => isField(change[0]) && isChange(change[1]),
  );
  const events = eventsOf(details);
  const reason = details.reason === 'ended' || details.reason === 'cancelled' ? details.reason : null;
  if (changes.length === 0 && events.length === 0 && reason === null) return null;
  return (
    <ul className="text-sm">
      {reason && <li>{t(`over.${reason}`)}</li>}
      {changes.map(([name, { from, to }]) => (
        <li key={name} className="flex flex-wrap gap-x-2">
          <span className="text-muted">{t(`fields.${name}`)}</span>
          {action !== 'create' && (
            <>
              <Value name={name} value={from} />
              <span aria-hidden="true" className="text-muted rtl:-scale-x-100">
                →
              </span>
              <span className="sr-only">{t('changedTo')}</span>
            </>
          )}
          <Value name={name} value={to} />
        </li>
      ))}
      {events.map((id) => (
        <li key={id}>
          <Link to="/events" search={{ event: id }} className="text-accent underline">
            {t('event')} <bdi className="font-mono text-xs">{id.slice(-8)}</bdi>
          </Link>
        </li>
      ))}
    </ul>
  );
}

const fieldNames = [
  'title',
  'description',
  'type',
  'severity',
  'reportedSeverity',
  'location',
  'locationId',
  'sensorId',
  'lanesBlocked',
  'assignedTo',
] as const;
type FieldName = (typeof fieldNames)[number];

interface Change {
  readonly from?: unknown;
  readonly to?: unknown;
}

function isField(name: string): name is FieldName {
  return (fieldNames as readonly string[]).includes(name);
}

function isChange(value: unknown): value is Change {
  return typeof value === 'object' && value !== null && ('from' in value || 'to' in value);
}

/** Maximum number of events shown per entry; the list of attached events has more. */
const MAX_EVENTS = 5;

function eventsOf({ eventId, eventIds }: Record<string, unknown>): readonly string[] {
  const ids = Array.isArray(eventIds) ? eventIds : [eventId];
  return ids.filter((id) => typeof id === 'string').slice(0, MAX_EVENTS);
}

function Value({ name, value }: { readonly name: FieldName; readonly value: unknown }) {
  const { t } = useTranslation(['incidents', 'common']);
  if (value === null || value === undefined || value === '') return <span>{t('none')}</span>;
  if (name === 'type') return <span>{t(`common:incidentTypes.${value as 'OTHER'}`)}</span>;
  if (name === 'severity' || name === 'reportedSeverity')
    return <span>{t(`common:severity.${value as 'LOW'}`)}</span>;
  if (typeof value === 'object') {
    const { latitude, longitude } = value as { latitude?: number; longitude?: number };
    return <bdi className="figures">{`${latitude}, ${longitude}`}</bdi>;
  }
  return <bdi className="line-clamp-3">{String(value)}</bdi>;
}
