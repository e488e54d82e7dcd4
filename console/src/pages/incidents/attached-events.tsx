import type { IncidentDetail } from '@gantry/contract/incidents';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useCodeNames } from '../../shared/events/codes.ts';
import { isKept, useImage } from '../../shared/events/use-image.ts';
import { service } from '../../shared/service/service.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useAllowed } from './allowed.ts';
import type { IncidentCommands } from './use-commands.tsx';

/** Number of events shown with an image: each image costs a request, and viewing it is recorded. */
const WITH_IMAGE = 3;

interface AttachedEventsProps {
  readonly incident: IncidentDetail;
  readonly commands: IncidentCommands;
}

/** The events that belong to an incident, the newest first. */
export function AttachedEvents({ incident, commands }: AttachedEventsProps) {
  const { t, i18n } = useTranslation(['incidents', 'events']);
  const allowed = useAllowed();
  const names = useCodeNames();
  const { events, eventCount } = incident;
  return (
    <Panel
      title={`${t('attached.title')} · ${eventCount.toLocaleString(i18n.language)}`}
      actions={
        allowed(incident, 'attachEvent') && (
          <Button
            kind="quiet"
            icon="add"
            iconOnly
            aria-label={t('actions.attachEvent')}
            onClick={() => commands.run('attachEvent', incident)}
          />
        )
      }
    >
      {eventCount === 0 && <p className="text-muted">{t('attached.none')}</p>}
      <ul className="flex max-h-96 flex-col overflow-y-auto">
        {events.map((event, at) => (
          <li key={event.id} className="border-t first:border-t-0">
            <Link
              to="/events"
              search={{ event: event.id }}
              className="flex min-h-11 items-center gap-2 rounded px-1 py-1 hover:bg-hover"
            >
              {at < WITH_IMAGE && <EventImage id={event.id} />}
              <span className="flex min-w-0 grow flex-col">
                <span className="flex gap-2">
                  <span className="one-line grow">
                    {t(`events:types.${event.eventType}`)}{' '}
                    <bdi>
                      {event.licensePlateNumber ??
                        (event.violationType && names.violation(event.violationType))}
                    </bdi>
                  </span>
                  <Moment at={event.timestamp} className="text-sm text-muted" />
                </span>
                <bdi className="one-line text-sm text-muted">
                  {event.description ?? event.locationName ?? event.sensorName}
                </bdi>
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {eventCount > events.length && <p className="text-sm text-muted">{t('attached.newest')}</p>}
    </Panel>
  );
}

/** A thumbnail of the first stored image of an event; renders nothing if there is none. */
function EventImage({ id }: { readonly id: string }) {
  const { data } = useQuery({ ...service.events.getById.queryOptions({ id }), staleTime: 300_000 });
  const first = data?.images.find(isKept);
  return first === undefined ? null : <Thumbnail reference={first} />;
}

function Thumbnail({ reference }: { readonly reference: string }) {
  const { t } = useTranslation('incidents');
  const { address } = useImage(reference);
  return (
    <span className="h-12 w-16 shrink-0 overflow-hidden rounded bg-hover">
      {address !== null && (
        <img src={address} alt={t('attached.image')} className="h-full w-full object-cover" />
      )}
    </span>
  );
}
