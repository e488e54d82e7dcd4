import { changesOnlyOwnIncidents, incidentStates } from '@gantry/contract/incident-states';
import type { Incident, IncidentAction, IncidentStatus } from '@gantry/contract/incidents';
import { mayDo } from '@gantry/contract/permissions';
import { useUser } from '../session/session.ts';

const states: Readonly<Record<IncidentAction, Partial<Record<IncidentStatus, IncidentStatus>>>> =
  incidentStates;

/** The steps from one state to another, in the order of an incident's life. */
export const moves = ['acknowledge', 'start', 'resolve', 'close', 'reopen'] as const;
export type Move = (typeof moves)[number];

/** Tells what the user may do about an incident in its present state. The service decides again. */
export function useAllowed(): (incident: Incident, action: IncidentAction) => boolean {
  const { id, role } = useUser();
  return ({ status, assignedTo }, action) =>
    mayDo(role, 'manageIncidents') &&
    states[action][status] !== undefined &&
    (!changesOnlyOwnIncidents(role) || assignedTo === null || assignedTo.id === id);
}
