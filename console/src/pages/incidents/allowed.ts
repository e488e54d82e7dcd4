import { changesOnlyOwnIncidents, incidentStates } from '@gantry/contract/incident-states';
import type { Incident, IncidentAction, IncidentDetail, IncidentStatus } from '@gantry/contract/incidents';
import { mayDo } from '@gantry/contract/permissions';
import { useUser } from '../../shared/session/session.ts';

const states: Readonly<Record<IncidentAction, Partial<Record<IncidentStatus, IncidentStatus>>>> =
  incidentStates;

/** The actions that change the state, in the order of the life cycle of an incident. */
export const moves = ['acknowledge', 'start', 'resolve', 'close', 'reopen'] as const;
export type Move = (typeof moves)[number];

/** Returns a check of whether an incident is assigned to somebody else, and the user's role may therefore not change it. */
export function useIsOfAnother(): (incident: Incident) => boolean {
  const { id, role } = useUser();
  return ({ assignedTo }) => changesOnlyOwnIncidents(role) && assignedTo !== null && assignedTo.id !== id;
}

/** Returns a check of whether the user may perform an action on an incident. The service checks it again. */
export function useAllowed(): (incident: Incident, action: IncidentAction) => boolean {
  const { role } = useUser();
  const isOfAnother = useIsOfAnother();
  return (incident, action) =>
    // A page of one incident knows whether it was merged, after which nothing changes it.
    !(incident as Partial<IncidentDetail>).work?.mergedInto &&
    mayDo(role, 'manageIncidents') &&
    states[action][incident.status] !== undefined &&
    !isOfAnother(incident);
}
