import { changesOnlyOwnIncidents } from '@gantry/contract/incident-states';
import type { Incident } from '@gantry/contract/incidents';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isConflict } from '../../shared/conflict/faster.tsx';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { LookUp } from '../../shared/form/look-up.tsx';
import { LookUpField } from '../../shared/form/look-up-field.tsx';
import { changesOf } from '../../shared/form/seen.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { incidentLookUp } from '../../shared/places/look-ups.ts';
import { Failure } from '../../shared/service/failure.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useUser } from '../../shared/session/session.ts';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Conflict } from './conflict.tsx';
import { type IncidentFacts, IncidentFields, readFacts } from './incident-fields.tsx';
import { useRefreshIncidents } from './use-actions.ts';
import { findAssignees, type Person } from './use-filters.ts';

interface AssignDialogProps {
  readonly incident: Incident;
  readonly onAssign: (to: Person | null) => void;
  readonly onClose: () => void;
}

/** A dialog that assigns an incident to the user, to another user, or to nobody. */
export function AssignDialog({ incident, onAssign, onClose }: AssignDialogProps) {
  const { t } = useTranslation('incidents');
  const user = useUser();
  const titleOf = useIncidentTitle();
  const choose = (to: Person | null) => {
    onClose();
    onAssign(to);
  };
  const { assignedTo } = incident;
  return (
    <Dialog title={t('actions.assign')} open onClose={onClose}>
      <p className="text-muted">
        <bdi className="line-clamp-2">{titleOf(incident)}</bdi>
      </p>
      <div className="flex flex-wrap gap-2">
        <Button
          icon="users"
          disabled={assignedTo?.id === user.id}
          onClick={() => choose({ id: user.id, name: `${user.firstName} ${user.lastName}` })}
        >
          {t('assignee.toMe')}
        </Button>
        <Button icon="none" disabled={assignedTo === null} onClick={() => choose(null)}>
          {t('assignee.toNobody')}
        </Button>
      </div>
      {!changesOnlyOwnIncidents(user.role) && (
        <LookUp
          label={t('assignee.other')}
          find={async (part) =>
            (await findAssignees(part)).map(({ id, name }) => ({ value: `${id} ${name}`, label: name }))
          }
          onChoose={(value) => {
            const at = value.indexOf(' ');
            choose({ id: value.slice(0, at), name: value.slice(at + 1) });
          }}
        />
      )}
    </Dialog>
  );
}

interface AttachDialogProps {
  readonly incident: Incident;
  readonly onClose: () => void;
}

/** The id of an event. @param entered the id, or a URL with it in the query parameter `event` */
function eventIdOf(entered: string): string {
  return /[?&]event=([0-9a-f-]{36})/i.exec(entered)?.[1] ?? entered;
}

/** A form that attaches an event by its id or URL. */
export function AttachDialog({ incident, onClose }: AttachDialogProps) {
  const { t } = useTranslation(['incidents', 'common']);
  const { say } = useNotices();
  const refresh = useRefreshIncidents();
  const form = useForm({
    keep: `attach ${incident.id}`,
    read: (entered) => ({ id: incident.id, eventId: eventIdOf(entered.text('eventId')) }),
    save: (input) => api.incidents.attachEvent.mutate(input),
    onSuccess: () => {
      say(t('said.attachEvent'));
      void refresh();
      onClose();
    },
  });
  return (
    <Dialog title={t('actions.attachEvent')} open onClose={onClose}>
      <form ref={form.ref} onSubmit={form.submit} className="flex flex-col gap-3">
        <Field
          label={t('attach.label')}
          name="eventId"
          hint={t('attach.hint')}
          error={form.errorOf('eventId')}
          required
          autoFocus
          dir="ltr"
        />
        {form.failure && <Failure error={form.failure} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{t('common:dialog.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={form.isSaving}>
            {t('actions.attachEvent')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/**
 * A form to edit an incident. Only the fields that the user changed are sent, so that changes by other users to other
 * fields are kept. If another user has changed the incident, their changes are shown before the user can save again.
 */
export function EditDialog({
  incident,
  onClose,
}: {
  readonly incident: Incident;
  readonly onClose: () => void;
}) {
  const { t } = useTranslation(['incidents', 'common']);
  const { offerUndo } = useNotices();
  const client = useQueryClient();
  const refresh = useRefreshIncidents();
  const { id } = incident;
  const [seenAt, setSeenAt] = useState({ before: incident.updatedAt, now: incident.updatedAt });
  const form = useForm({
    keep: `incident ${id}`,
    read: (entered) => changesOf(incident, readFacts(entered)),
    save: async (changes) => {
      try {
        return await api.incidents.update.mutate({ id, ...changes, expectedUpdatedAt: seenAt.now });
      } catch (error) {
        if (isConflict(error)) {
          await refresh();
          const { updatedAt } = await client.fetchQuery(service.incidents.getById.queryOptions({ id }));
          setSeenAt({ before: seenAt.now, now: updatedAt });
        }
        throw error;
      }
    },
    onSuccess: (after, changes) => {
      void refresh();
      onClose();
      if (Object.keys(changes).length === 0) return;
      const before = Object.fromEntries(
        Object.keys(changes).map((name) => [name, incident[name as keyof IncidentFacts]]),
      );
      offerUndo(t('said.update'), async () => {
        await api.incidents.update.mutate({ id, ...before, expectedUpdatedAt: after.updatedAt });
        await refresh();
      });
    },
  });
  const { failure } = form;
  return (
    <FormDialog
      title={t('actions.update')}
      form={form}
      onClose={onClose}
      action={isConflict(failure) ? t('common:faster.saveStill') : undefined}
      width="wide"
      failure={isConflict(failure) && <Conflict error={failure} incidentId={id} seenAt={seenAt.before} />}
    >
      <IncidentFields facts={incident} errorOf={form.errorOf} />
    </FormDialog>
  );
}

/** A form that merges an incident into another one, to which the page then goes. */
export function MergeDialog({ incident, onClose }: AttachDialogProps) {
  const { t } = useTranslation('incidents');
  const { say } = useNotices();
  const refresh = useRefreshIncidents();
  const navigate = useNavigate();
  const form = useForm({
    keep: `merge ${incident.id}`,
    read: (entered) => ({ id: incident.id, into: entered.text('into') }),
    save: (input) => api.incidents.merge.mutate(input),
    onSuccess: ({ id }) => {
      say(t('said.merge'));
      void refresh();
      onClose();
      void navigate({ to: '/incidents/$incidentId', params: { incidentId: id } });
    },
  });
  return (
    <FormDialog title={t('actions.merge')} form={form} onClose={onClose} action={t('actions.merge')}>
      <p>{t('merge.text')}</p>
      <LookUpField
        label={t('merge.other')}
        name="into"
        defaultValue={null}
        error={form.errorOf('into')}
        {...incidentLookUp}
      />
    </FormDialog>
  );
}
