import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../shared/form/form.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useUser } from '../../shared/session/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { EventLine } from './event-line.tsx';
import { useFactsOf } from './facts-of-event.ts';
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
