import type { GantryError } from '@gantry/client';
import type { Incident } from '@gantry/contract/incidents';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
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
  const underWay = useRef(new Map<string, { what: string; done: Promise<Incident> }>());

  /**
   * Does it, after what is under way about the same incident. The same pressed again meanwhile is done once: the second call
   * would be refused because of the first.
   * @param work gets the incident as the user last saw or left it, and answers with it as it is then
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

  /** Takes it on to its next state. The table of states has no way back from these, so there is no undo. */
  const move = (seen: Incident, action: Exclude<Move, 'reopen'>) =>
    attempt(seen, action, async ({ id }) => {
      const after = await api.incidents[action].mutate({ id });
      say(t(`said.${action}`));
      return after;
    });

  return { assign, move, faster, forgetFaster: () => setFaster(null) };
}
