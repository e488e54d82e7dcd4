import type { Role } from './permissions.ts';
import type { incidentStatuses } from './values.ts';

// The rules of incidents. Does not import zod, so that pages whose script must stay small can use it.

/** Actions on an existing incident. */
export const incidentActions = [
  'acknowledge',
  'start',
  'resolve',
  'close',
  'reopen',
  'assign',
  'update',
  'attachEvent',
  'addNote',
] as const;

type Action = (typeof incidentActions)[number];
type Status = (typeof incidentStatuses)[number];

/** The state machine of incidents: action × status → next status. Other combinations are refused. */
export const incidentStates = {
  acknowledge: { OPEN: 'ACKNOWLEDGED' },
  start: { ACKNOWLEDGED: 'IN_PROGRESS' },
  resolve: { IN_PROGRESS: 'RESOLVED' },
  close: { RESOLVED: 'CLOSED' },
  reopen: { RESOLVED: 'OPEN', CLOSED: 'OPEN' },
  assign: { OPEN: 'OPEN', ACKNOWLEDGED: 'ACKNOWLEDGED', IN_PROGRESS: 'IN_PROGRESS' },
  update: { OPEN: 'OPEN', ACKNOWLEDGED: 'ACKNOWLEDGED', IN_PROGRESS: 'IN_PROGRESS', RESOLVED: 'RESOLVED' },
  attachEvent: {
    OPEN: 'OPEN',
    ACKNOWLEDGED: 'ACKNOWLEDGED',
    IN_PROGRESS: 'IN_PROGRESS',
    RESOLVED: 'RESOLVED',
  },
  addNote: {
    OPEN: 'OPEN',
    ACKNOWLEDGED: 'ACKNOWLEDGED',
    IN_PROGRESS: 'IN_PROGRESS',
    RESOLVED: 'RESOLVED',
    CLOSED: 'CLOSED',
  },
} as const satisfies Record<Action, Partial<Record<Status, Status>>>;

/** Whether a role may change only incidents that are assigned to the user or to nobody. */
export function changesOnlyOwnIncidents(role: Role): boolean {
  return role === 'FIELD';
}
