import { incidentStates } from '@gantry/contract/incident-states';
import { type IncidentAction, type IncidentStatus, incidentAction } from '@gantry/contract/incidents';
import { AppError } from '../platform/error.ts';

/** Each action as a participle: "Anna Kern acknowledged this incident", "it can be acknowledged". */
const done: Record<IncidentAction | 'create', string> = {
  create: 'opened',
  acknowledge: 'acknowledged',
  start: 'started',
  resolve: 'resolved',
  close: 'closed',
  reopen: 'reopened',
  assign: 'assigned',
  update: 'updated',
  attachEvent: 'given events',
  addNote: 'given notes',
};

const nextStatuses: Record<IncidentAction, Partial<Record<IncidentStatus, IncidentStatus>>> = incidentStates;

/** Whether the table of states allows the action in the state. */
export function allows(action: IncidentAction, status: IncidentStatus): boolean {
  return nextStatuses[action][status] !== undefined;
}

/** A timeline entry that prevents an action, such as the one that set the present status. */
export interface Arrival {
  readonly action: IncidentAction | 'create';
  /** The user; null for an event. */
  readonly who: string | null;
  readonly at: Date;
}

/** The refusal of an action that the status does not allow: says who set the status, and what can be done instead. */
export function stateRefusal(status: IncidentStatus, arrival: Arrival | null): AppError {
  const possible = list(
    incidentAction.options.filter((action) => allows(action, status)).map((a) => done[a]),
  );
  const now = `${status} now; it can be ${possible}`;
  return new AppError(
    'conflict',
    arrival
      ? `${arrival.who ?? 'An event'} ${done[arrival.action]} this incident at ${arrival.at.toISOString()}: it is ${now}`
      : `This incident is ${now}`,
  );
}

/** The refusal for an incident of somebody else, which the caller's role may not change. */
export function assigneeRefusal(assignee: string): AppError {
  return new AppError(
    'forbidden',
    `This incident is assigned to ${assignee}: with your role you can change what is assigned to you or to nobody`,
  );
}

/**
 * The refusal when the incident is not assigned as the caller expected.
 * @param assignee the present assignee; null for none
 * @param who the user who assigned it; null if unknown
 */
export function assignedRefusal(assignee: string | null, who: string | null): AppError {
  return new AppError(
    'conflict',
    who === null
      ? `This incident is now assigned to ${assignee ?? 'nobody'}: reload it before you assign it`
      : `${who} assigned this incident to ${assignee ?? 'nobody'} in the meantime: reload it before you assign it`,
  );
}

/** The refusal after somebody else has changed the incident. */
export function changedRefusal({ action, who, at }: Arrival): AppError {
  return new AppError(
    'conflict',
    `${who ?? 'An event'} ${done[action]} this incident at ${at.toISOString()}: reload it before you change it`,
  );
}

function list(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
