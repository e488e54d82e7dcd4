import type { GantryError } from '@gantry/client';
import type { Incident } from '@gantry/contract/incidents';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isConflict } from '../conflict/faster.tsx';
import type { Person } from '../people/people.ts';
import { api, service } from '../service/service.ts';
import { useNotices } from '../undo/undo.tsx';
import type { Move } from './allowed.ts';

/** What somebody else did faster, to be shown. */
export interface FasterStep {
  readonly error: GantryError;
  readonly incidentId: string;
  readonly seenAt: Date;
}

/** Has everything that shows incidents asked for again. */
export function useRefreshIncidents(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: service.incidents.pathKey() });
}

/**
 * What can be done about an incident at once, without a form. A failure is said; if somebody was faster, `faster` tells
 * what to show, and the incident is asked for again.
 */
export function useIncidentActions() {
  const { t } = useTranslation('incidents');
  const { say, offerUndo, sayFailure } = useNotices();
  const refresh = useRefreshIncidents();
  const [faster, setFaster] = useState<FasterStep | null>(null);

  const attempt = async (incident: Incident, work: () => Promise<void>): Promise<void> => {
    setFaster(null);
    try {
      await work();
    } catch (error) {
      if (isConflict(error)) setFaster({ error, incidentId: incident.id, seenAt: incident.updatedAt });
      else sayFailure(error);
    }
    await refresh();
  };

  const assign = (incident: Incident, to: Person | null) =>
    attempt(incident, async () => {
      const { id, assignedTo: before, updatedAt } = incident;
      if ((before?.id ?? null) === (to?.id ?? null)) return;
      const after = await api.incidents.assign.mutate({
        id,
        userId: to?.id ?? null,
        expectedAssignee: before?.id ?? null,
        expectedUpdatedAt: updatedAt,
      });
      const text = to ? t('said.assigned', { name: to.name }) : t('said.unassigned');
      offerUndo(text, async () => {
        await api.incidents.assign.mutate({
          id,
          userId: before?.id ?? null,
          expectedAssignee: to?.id ?? null,
          expectedUpdatedAt: after.updatedAt,
        });
        await refresh();
      });
    });

  /** Takes it on to its next state. The table of states has no way back from these, so there is no undo. */
  const move = (incident: Incident, action: Exclude<Move, 'reopen'>) =>
    attempt(incident, async () => {
      await api.incidents[action].mutate({ id: incident.id });
      say(t(`said.${action}`));
    });

  return { assign, move, faster, forgetFaster: () => setFaster(null) };
}
