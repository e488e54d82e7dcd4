import type { Incident } from '@gantry/contract/incidents';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isConflict } from '../conflict/faster.tsx';
import { useForm } from '../form/form.ts';
import { Failure } from '../service/failure.tsx';
import { api, service } from '../service/service.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useNotices } from '../undo/undo.tsx';
import { Conflict } from './conflict.tsx';
import { type IncidentFacts, IncidentFields, readFacts } from './incident-fields.tsx';
import { useRefreshIncidents } from './use-actions.ts';

/** Those fields of the one that the other has otherwise. */
function changesOf(before: IncidentFacts, after: IncidentFacts): Partial<IncidentFacts> {
  const { location: was, ...rest } = before;
  const { location: is, ...entered } = after;
  const isMoved = was?.latitude !== is?.latitude || was?.longitude !== is?.longitude;
  return {
    ...Object.fromEntries(
      Object.entries(entered).filter(([name, value]) => rest[name as keyof typeof rest] !== value),
    ),
    ...(isMoved && { location: is }),
  };
}

/**
 * Changes what is known of an incident. Only what was changed here is sent, so that what somebody else changed meanwhile
 * stays, and is shown first.
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
    <Dialog title={t('actions.update')} open onClose={onClose} width="wide">
      <form onSubmit={form.submit} className="flex flex-col gap-3">
        <IncidentFields facts={incident} errorOf={form.errorOf} />
        {isConflict(failure) ? (
          <Conflict error={failure} incidentId={id} seenAt={seenAt.before} />
        ) : (
          failure && <Failure error={failure} />
        )}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{t('common:dialog.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={form.isSaving}>
            {isConflict(failure) ? t('common:faster.saveStill') : t('common:dialog.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
