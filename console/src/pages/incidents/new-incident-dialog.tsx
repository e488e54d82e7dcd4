import type { EventDetail } from '@gantry/contract/events';
import type { IncidentType } from '@gantry/contract/incidents';
import { incidentTypes } from '@gantry/contract/values';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCodeNames } from '../../shared/events/codes.ts';
import { useForm } from '../../shared/form/form.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useUser } from '../../shared/session/session.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { type IncidentFacts, IncidentFields, readFacts } from './incident-fields.tsx';
import { useRefreshIncidents } from './use-actions.ts';
import type { Beginning } from './use-incidents-search.ts';

interface NewIncidentDialogProps {
  readonly beginning: Beginning;
  readonly onClose: () => void;
  readonly onCreated: (id: string) => void;
}

/** A form that creates an incident, with initial values from the URL and from the event that is evidence for it. */
export function NewIncidentDialog({ beginning, ...rest }: NewIncidentDialogProps) {
  const { t } = useTranslation('incidents');
  const { eventId } = beginning;
  const factsOf = useFactsOf();
  const event = useQuery({
    ...service.events.getById.queryOptions({ id: eventId ?? '' }),
    enabled: eventId !== undefined,
  });
  return (
    <Dialog title={t('new.title')} open onClose={rest.onClose} width="wide">
      {event.isLoading ? (
        <Skeleton rows={5} />
      ) : (
        <>
          {event.error && <Failure error={event.error} onRetry={() => void event.refetch()} />}
          <NewIncidentForm facts={factsOf(beginning, event.data)} eventId={eventId} {...rest} />
        </>
      )}
    </Dialog>
  );
}

interface NewIncidentFormProps extends Omit<NewIncidentDialogProps, 'beginning'> {
  readonly facts: IncidentFacts;
  readonly eventId: string | undefined;
}

function NewIncidentForm({ facts, eventId, onClose, onCreated }: NewIncidentFormProps) {
  const { t } = useTranslation(['incidents', 'common']);
  const { say } = useNotices();
  const user = useUser();
  const refresh = useRefreshIncidents();
  // The initial values do not change while the form is open.
  const [initial] = useState(facts);
  const [isAttached, setAttached] = useState(true);
  const form = useForm({
    keep: `new incident ${eventId ?? ''}`,
    read: (entered) => ({
      ...readFacts(entered),
      assignedTo: entered.checked('toMe') ? user.id : null,
      eventIds: eventId !== undefined && isAttached ? [eventId] : [],
    }),
    save: (input) => api.incidents.create.mutate(input),
    onSuccess: ({ id }) => {
      say(t('said.create'));
      void refresh();
      onCreated(id);
    },
  });
  return (
    <form ref={form.ref} onSubmit={form.submit} className="flex flex-col gap-3">
      {eventId !== undefined && (
        <label className="flex items-center gap-2 rounded-md border p-2">
          <input
            type="checkbox"
            name="attach"
            checked={isAttached}
            onChange={() => setAttached(!isAttached)}
            className="size-4 accent-accent"
          />
          <span className="text-muted">{t('new.attach')}</span>
          <EventLine id={eventId} />
        </label>
      )}
      <IncidentFields facts={initial} errorOf={form.errorOf} />
      <label className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
        <input type="checkbox" name="toMe" className="size-4 accent-accent" />
        {t('assignee.toMe')}
      </label>
      {form.failure && <Failure error={form.failure} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{t('common:dialog.cancel')}</Button>
        <Button kind="primary" type="submit" disabled={form.isSaving}>
          {t('new.create')}
        </Button>
      </div>
    </form>
  );
}

/** An event in one line: type, number plate or violation, place and time. Shows the id until the event is loaded. */
function EventLine({ id }: { readonly id: string }) {
  const { t } = useTranslation('events');
  const names = useCodeNames();
  const { data } = useQuery(service.events.getById.queryOptions({ id }));
  if (!data) return <bdi className="one-line font-mono text-sm">{id}</bdi>;
  return (
    <span className="one-line">
      {t(`types.${data.eventType}`)}{' '}
      <bdi>{data.licensePlateNumber ?? (data.violationType && names.violation(data.violationType))}</bdi>{' '}
      <bdi className="text-muted">{data.locationName ?? data.sensorName}</bdi>{' '}
      <span className="text-muted">
        <Moment at={data.timestamp} />
      </span>
    </span>
  );
}

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
function useFactsOf(): (beginning: Beginning, event: EventDetail | undefined) => IncidentFacts {
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
