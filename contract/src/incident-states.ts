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
  'verify',
  'rejectFalse',
  'setTimes',
  'setLanes',
  'setFacts',
  'addAgency',
  'updateAgency',
  'removeAgency',
  'setPlan',
  'completeStep',
  'skipStep',
  'reopenStep',
  'makeReport',
  'takeOver',
  'merge',
] as const;

/**
 * The times of an incident in the order in which they come, T0 to T7 of traffic incident management (FHWA): the roadway
 * clearance time is T5 − T1, the incident clearance time T6 − T1.
 */
export const incidentTimes = [
  'occurredAt',
  'openedAt',
  'verifiedAt',
  'dispatchedAt',
  'arrivedAt',
  'lanesOpenAt',
  'lastLeftAt',
  'normalAt',
] as const;
export type IncidentTime = (typeof incidentTimes)[number];

/** The times that people may set; T1 is the opening of the incident. */
export type SettableTime = Exclude<IncidentTime, 'openedAt'>;
export const settableTimes = incidentTimes.filter((time): time is SettableTime => time !== 'openedAt');

/** The short name of a time: T5 for `lanesOpenAt`. */
export function codeOfTime(time: IncidentTime): string {
  return `T${incidentTimes.indexOf(time)}`;
}

/** Kinds of steps of response plans. */
export const stepKinds = ['DO', 'CALL', 'NOTIFY', 'CHECK_CAMERA', 'RECORD_TIME'] as const;

export const agencyKinds = ['POLICE', 'FIRE', 'MEDICAL', 'TOW', 'ROAD', 'OTHER'] as const;

/** The times of a unit of an agency at an incident, in their order. */
export const agencyTimes = ['notifiedAt', 'dispatchedAt', 'arrivedAt', 'leftAt'] as const;
export type AgencyTime = (typeof agencyTimes)[number];

export const laneStates = ['OPEN', 'CLOSED', 'SHIFTED', 'UNKNOWN'] as const;
export type LaneState = (typeof laneStates)[number];

/** The worst injury: nobody was injured, slightly, seriously, or somebody died. */
export const injuries = ['NONE', 'MINOR', 'SERIOUS', 'FATAL'] as const;

/** Who may read a note: each of them also what those after it may. */
export const noteAudiences = ['INTERNAL', 'PARTNERS', 'PUBLIC'] as const;

export const situationReportKinds = ['INITIAL', 'INTERMEDIATE', 'FINAL'] as const;

/** What only adds to the record of an incident, and overwrites nothing that somebody else may be editing. */
export const recordingActions = [
  'setPlan',
  'completeStep',
  'skipStep',
  'reopenStep',
  'makeReport',
  'takeOver',
  'attachEvent',
  'addNote',
  'verify',
  'setTimes',
  'setLanes',
  'setFacts',
  'addAgency',
  'updateAgency',
  'removeAgency',
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
  verify: { OPEN: 'OPEN', ACKNOWLEDGED: 'ACKNOWLEDGED', IN_PROGRESS: 'IN_PROGRESS', RESOLVED: 'RESOLVED' },
  rejectFalse: { OPEN: 'CLOSED', ACKNOWLEDGED: 'CLOSED', IN_PROGRESS: 'CLOSED' },
  // Times and facts are often completed afterwards, so they can be set in every state.
  setTimes: {
    OPEN: 'OPEN',
    ACKNOWLEDGED: 'ACKNOWLEDGED',
    IN_PROGRESS: 'IN_PROGRESS',
    RESOLVED: 'RESOLVED',
    CLOSED: 'CLOSED',
  },
  setLanes: { OPEN: 'OPEN', ACKNOWLEDGED: 'ACKNOWLEDGED', IN_PROGRESS: 'IN_PROGRESS', RESOLVED: 'RESOLVED' },
  setFacts: {
    OPEN: 'OPEN',
    ACKNOWLEDGED: 'ACKNOWLEDGED',
    IN_PROGRESS: 'IN_PROGRESS',
    RESOLVED: 'RESOLVED',
    CLOSED: 'CLOSED',
  },
  addAgency: { OPEN: 'OPEN', ACKNOWLEDGED: 'ACKNOWLEDGED', IN_PROGRESS: 'IN_PROGRESS', RESOLVED: 'RESOLVED' },
  updateAgency: {
    OPEN: 'OPEN',
    ACKNOWLEDGED: 'ACKNOWLEDGED',
    IN_PROGRESS: 'IN_PROGRESS',
    RESOLVED: 'RESOLVED',
    CLOSED: 'CLOSED',
  },
  removeAgency: {
    OPEN: 'OPEN',
    ACKNOWLEDGED: 'ACKNOWLEDGED',
    IN_PROGRESS: 'IN_PROGRESS',
    RESOLVED: 'RESOLVED',
  },
  setPlan: { OPEN: 'OPEN', ACKNOWLEDGED: 'ACKNOWLEDGED', IN_PROGRESS: 'IN_PROGRESS' },
  completeStep: {
    OPEN: 'OPEN',
    ACKNOWLEDGED: 'ACKNOWLEDGED',
    IN_PROGRESS: 'IN_PROGRESS',
    RESOLVED: 'RESOLVED',
  },
  skipStep: { OPEN: 'OPEN', ACKNOWLEDGED: 'ACKNOWLEDGED', IN_PROGRESS: 'IN_PROGRESS', RESOLVED: 'RESOLVED' },
  reopenStep: {
    OPEN: 'OPEN',
    ACKNOWLEDGED: 'ACKNOWLEDGED',
    IN_PROGRESS: 'IN_PROGRESS',
    RESOLVED: 'RESOLVED',
  },
  makeReport: {
    OPEN: 'OPEN',
    ACKNOWLEDGED: 'ACKNOWLEDGED',
    IN_PROGRESS: 'IN_PROGRESS',
    RESOLVED: 'RESOLVED',
    CLOSED: 'CLOSED',
  },
  // Another incident was merged into it.
  takeOver: { OPEN: 'OPEN', ACKNOWLEDGED: 'ACKNOWLEDGED', IN_PROGRESS: 'IN_PROGRESS', RESOLVED: 'RESOLVED' },
  // It was merged into another one.
  merge: { OPEN: 'CLOSED', ACKNOWLEDGED: 'CLOSED', IN_PROGRESS: 'CLOSED', RESOLVED: 'CLOSED' },
} as const satisfies Record<Action, Partial<Record<Status, Status>>>;

/** Whether a role may change only incidents that are assigned to the user or to nobody. */
export function changesOnlyOwnIncidents(role: Role): boolean {
  return role === 'FIELD';
}
