import type { GantryError } from '@gantry/client';
import type { Incident } from '@gantry/contract/incidents';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isConflict } from '../../shared/conflict/faster.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { api, service } from '../../shared/service/service.ts';
import type { Move } from './allowed.ts';
import type { Person } from './use-filters.ts';

/** A conflict to be shown: another user has changed the incident since the user saw it. */
export interface FasterStep {
  readonly error: GantryError;
  readonly incidentId: string;
  readonly seenAt: Date;
}

/** Returns a function that invalidates all cached queries of incidents. */
export function useRefreshIncidents(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: service.incidents.pathKey() });
}

/**
 * The actions on an incident that need no form. A failure is shown as a notice, except for a conflict with another
 * user's change, which is returned as `faster`. Incidents are refetched after each action.
 */
export function useIncidentActions() {
  const { t } = useTranslation('incidents');
  const { say, offerUndo, sayFailure } = useNotices();
  const refresh = useRefreshIncidents();
  const [faster, setFaster] = useState<FasterStep | null>(null);
  const underWay = useRef(new Map<string, { what: string; done: Promise<Incident> }>());

  /**
   * Runs an action after the pending action on the same incident, if there is one. If the same action is pending
   * already, it is not repeated, because the service would refuse the second request.
   * @param what identifies the action
   * @param work receives the incident as the user saw it, or as the pending action has left it; returns the updated
   * incident
   */
  const attempt = async (
    seen: Incident,
    what: string,
    work: (incident: Incident) => Promise<Incident>,
  ): Promise<void> => {
    const { id } = seen;
    const before = underWay.current.get(id);
    if (before?.what === what) return;
    const done = before ? before.done.catch(() => seen).then(work) : work(seen);
    const own = { what, done };
    underWay.current.set(id, own);
    const forget = () => underWay.current.get(id) === own && underWay.current.delete(id);
    setFaster(null);
    try {
      await done;
    } catch (error) {
      forget();
      if (isConflict(error)) setFaster({ error, incidentId: id, seenAt: seen.updatedAt });
      else sayFailure(error);
    }
    await refresh();
    forget();
  };

  const assign = (seen: Incident, to: Person | null) =>
    attempt(seen, `assign ${to?.id}`, async (incident) => {
      const { id, assignedTo: before, updatedAt } = incident;
      if ((before?.id ?? null) === (to?.id ?? null)) return incident;
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
      return after;
    });

  /** Moves an incident to its next state. The state machine has no way back from these, so there is no undo. */
  const move = (seen: Incident, action: Exclude<Move, 'reopen'>) =>
    attempt(seen, action, async ({ id }) => {
      const after = await api.incidents[action].mutate({ id });
      say(t(`said.${action}`));
      return after;
    });

  return { assign, move, faster, forgetFaster: () => setFaster(null) };
}
