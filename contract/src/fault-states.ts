import type { sensorStatuses } from './values.ts';

// The rules of faults of sensors. Does not import zod, so that pages whose script must stay small can use it.

/** From when somebody found a fault until it is repaired. WAITING: for a part, for access, for somebody else. */
export const faultStates = ['FOUND', 'WAITING', 'IN_REPAIR', 'REPAIRED'] as const;
export type FaultState = (typeof faultStates)[number];

/** The state machine of faults: the states that may follow each one. From REPAIRED back to FOUND: the fault is there again. */
export const nextFaultStates = {
  FOUND: ['WAITING', 'IN_REPAIR', 'REPAIRED'],
  WAITING: ['IN_REPAIR', 'REPAIRED'],
  IN_REPAIR: ['WAITING', 'REPAIRED'],
  REPAIRED: ['FOUND'],
} as const satisfies Record<FaultState, readonly FaultState[]>;

/** Whether a fault may go from one state to the other. */
export function mayFollow(from: FaultState, to: FaultState): boolean {
  return (nextFaultStates[from] as readonly FaultState[]).includes(to);
}

/** Whether the change must say why: what a fault waits for, and how a repaired one came back. */
export function needsReason(from: FaultState, to: FaultState): boolean {
  return to === 'WAITING' || from === 'REPAIRED';
}

/** What is wrong with a sensor at a time. */
export interface SensorCondition {
  readonly status: (typeof sensorStatuses)[number];
  /** Whether it has a fault that is not repaired. */
  readonly hasFault: boolean;
}

/**
 * The order "worst first", from the worst condition to the best; within one, those whose status is older come first. It is the only one: of
 * lists of sensors, of what a shift hands over, and of reports. A fault that somebody confirmed counts more than a status alone, which may pass.
 */
export const worstFirst: readonly SensorCondition[] = [
  { status: 'ERROR', hasFault: true },
  { status: 'OFFLINE', hasFault: true },
  { status: 'ERROR', hasFault: false },
  { status: 'OFFLINE', hasFault: false },
  { status: 'ONLINE', hasFault: true },
  { status: 'MAINTENANCE', hasFault: true },
  { status: 'MAINTENANCE', hasFault: false },
  { status: 'ONLINE', hasFault: false },
];
