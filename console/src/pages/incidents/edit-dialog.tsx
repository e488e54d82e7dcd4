import type { Incident } from '@gantry/contract/incidents';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isConflict } from '../../shared/conflict/faster.tsx';
import { changesOf } from '../../shared/form/changes.ts';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { api, service } from '../../shared/service/service.ts';
import { Conflict } from './conflict.tsx';
import { type IncidentFacts, IncidentFields, readFacts } from './incident-fields.tsx';
import { useRefreshIncidents } from './use-actions.ts';

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
