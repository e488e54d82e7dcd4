import { HOUR_MS } from '@gantry/contract/durations';
import { type Incident, type IncidentStatus, incidentStatus } from '@gantry/contract/incidents';
import { draw, drawOne } from './draw.ts';
import { CLOSING_NOTES, notes } from './incident-notes.ts';
import type { Part } from './staff.ts';

/** Incidents older than this, in milliseconds, have been resolved or closed. */
const RECENT_MS = 48 * HOUR_MS;

/** Incidents newer than this, in milliseconds, have not been acknowledged. */
const NEW_MS = 6 * HOUR_MS;

/** The fractions of old incidents that are closed, and of recent ones that are in progress or acknowledged. */
const CLOSED = 0.85;
const STARTED = 0.35;
const SEEN = 0.35;

/** The fraction of the work done by the field service; the operator does the rest. */
const FIELD = 0.65;

/** An action on an incident. */
export type Step =
  | {
      readonly action: 'acknowledge' | 'start' | 'resolve' | 'close';
      readonly by: Part;
      readonly note: string | null;
    }
  | { readonly action: 'assign'; readonly by: Part; readonly to: Part };

type Dated = Pick<Incident, 'id' | 'openedAt'>;

/** The status of an incident of that age in a typical control room; `now` in Unix milliseconds. */
export function goalOf({ id, openedAt }: Dated, now: number): IncidentStatus {
  const age = now - openedAt.getTime();
  const drawn = draw(`goal ${id}`);
  if (age > RECENT_MS) return drawn < CLOSED ? 'CLOSED' : 'RESOLVED';
  if (age < NEW_MS) return 'OPEN';
  if (drawn < STARTED) return 'IN_PROGRESS';
  return drawn < STARTED + SEEN ? 'ACKNOWLEDGED' : 'OPEN';
}

/**
 * The actions, in order, that bring an incident to its expected status by `now` (Unix milliseconds).
 * @param assigned the current assignee; null for none
 */
export function courseOf(
  incident: Dated & Pick<Incident, 'type' | 'status'>,
  assigned: Part | null,
  now: number,
): Step[] {
  const { id, type, status } = incident;
  const doer = assigned ?? (draw(`doer ${id}`) < FIELD ? 'field' : 'operator');
  const say = (action: 'acknowledge' | 'start' | 'resolve') =>
    drawOne(`${action} ${id}`, notes[type][action]);
  const course: readonly { to: IncidentStatus; step: Step }[] = [
    { to: 'ACKNOWLEDGED', step: { action: 'acknowledge', by: 'operator', note: say('acknowledge') } },
    { to: 'IN_PROGRESS', step: { action: 'start', by: doer, note: say('start') } },
    { to: 'RESOLVED', step: { action: 'resolve', by: doer, note: say('resolve') } },
    { to: 'CLOSED', step: { action: 'close', by: 'operator', note: drawOne(`close ${id}`, CLOSING_NOTES) } },
  ];
  const goal = positionOf(goalOf(incident, now));
  const isDue = (to: IncidentStatus): boolean =>
    positionOf(to) > positionOf(status) && positionOf(to) <= goal;
  const steps = course.filter(({ to }) => isDue(to)).map(({ step }) => step);
  const isTaken = assigned !== null || positionOf(status) >= positionOf('IN_PROGRESS');
  if (isTaken || goal < positionOf('ACKNOWLEDGED')) return steps;
  const assign: Step = { action: 'assign', by: 'operator', to: doer };
  return status === 'OPEN' ? [...steps.slice(0, 1), assign, ...steps.slice(1)] : [assign, ...steps];
}

function positionOf(status: IncidentStatus): number {
  return incidentStatus.options.indexOf(status);
}
