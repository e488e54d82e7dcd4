import { changesOnlyOwnIncidents, incidentStates } from '@gantry/contract/incident-states';
import type { Incident, IncidentAction, IncidentDetail, IncidentStatus } from '@gantry/contract/incidents';
import { mayDo } from '@gantry/contract/permissions';
import { useUser } from '../../shared/session/session.ts';

const states: Readonly<Record<IncidentAction, Partial<Record<IncidentStatus, IncidentStatus>>>> =
  incidentStates;

/** The actions that change the state, in the order of the life cycle of an incident. */
export const moves = ['acknowledge', 'start', 'resolve', 'close', 'reopen'] as const;
export type Move = (typeof moves)[number];

/** Returns a check of whether the user may perform an action on an incident. The service checks it again. */
export function useAllowed(): (incident: Incident, action: IncidentAction) => boolean {
  const { id, role } = useUser();
  return ({ status, assignedTo, ...rest }, action) =>
    // A page of one incident knows whether it was merged, after which nothing changes it.
    !(rest as Partial<IncidentDetail>).work?.mergedInto &&
    mayDo(role, 'manageIncidents') &&
    states[action][status] !== undefined &&
    (!changesOnlyOwnIncidents(role) || assignedTo === null || assignedTo.id === id);
}
