import { isUuid } from '@gantry/contract/id';
import { changesOnlyOwnIncidents, incidentStates } from '@gantry/contract/incident-states';
import type { NoteAudience } from '@gantry/contract/incident-work';
import type { Incident, IncidentAction, IncidentChange, IncidentStatus } from '@gantry/contract/incidents';
import { findNames, type NameOf } from '../accounts/names-store.ts';
import { recordActivity } from '../activity/store.ts';
import type { Actor, ActorContext, Core } from '../platform/context.ts';
import type { Transaction } from '../platform/database/transaction.ts';
import { AppError } from '../platform/error.ts';
import { resolveTime } from '../platform/time.ts';
import { type Outbox, publish } from '../realtime/publish.ts';
import {
  applyCommand,
  attachEvents,
  hasFields,
  type IncidentCommand,
  type IncidentRow,
  incidentOf,
  lockIncident,
} from './store.ts';
import {
  findArrival,
  findLastAssignment,
  findLastStep,
  findUnseen,
  recordTimeline,
  type Unseen,
} from './timeline-store.ts';
import { findMergedInto } from './work-store.ts';

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
  verify: 'verified',
  rejectFalse: 'rejected as a false alarm',
  setTimes: 'given times',
  setLanes: 'given states of lanes',
  setFacts: 'given facts',
  addAgency: 'given agencies',
  updateAgency: 'given times of agencies',
  removeAgency: 'relieved of agencies',
  setPlan: 'given a plan',
  completeStep: 'given finished steps',
  skipStep: 'given skipped steps',
  reopenStep: 'given reopened steps',
  makeReport: 'given situation reports',
  takeOver: 'given what another one had',
  merge: 'merged',
};

/** The actions that a refusal offers instead; what is only recorded is possible in nearly every state. */
const offered: readonly IncidentAction[] = [
  'acknowledge',
  'start',
  'resolve',
  'close',
  'reopen',
  'assign',
  'update',
  'attachEvent',
  'addNote',
];

const nextStatuses: Record<IncidentAction, Partial<Record<IncidentStatus, IncidentStatus>>> = incidentStates;

/** Whether the table of states allows the action in the state. */
function allows(action: IncidentAction, status: IncidentStatus): boolean {
  return nextStatuses[action][status] !== undefined;
}

/** A timeline entry that prevents an action, such as the one that set the present status. */
interface Arrival {
  readonly action: IncidentAction | 'create';
  /** The user; null for an event. */
  readonly who: string | null;
  readonly at: Date;
}

/** The refusal of an action that the status does not allow: says who set the status, and what can be done instead. */
function stateRefusal(status: IncidentStatus, arrival: Arrival | null): AppError {
  const possible = list(offered.filter((action) => allows(action, status)).map((a) => done[a]));
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
function assignedRefusal(assignee: string | null, who: string | null): AppError {
  return new AppError(
    'conflict',
    who === null
      ? `This incident is now assigned to ${assignee ?? 'nobody'}: reload it before you assign it`
      : `${who} assigned this incident to ${assignee ?? 'nobody'} in the meantime: reload it before you assign it`,
  );
}

/** The refusal after somebody else has changed the incident. */
function changedRefusal({ action, who, at }: Arrival): AppError {
  return new AppError(
    'conflict',
    `${who ?? 'An event'} ${done[action]} this incident at ${at.toISOString()}: reload it before you change it`,
  );
}

function list(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** The context of changes to incidents. */
export type IncidentContext = ActorContext<Core & { readonly outbox: Outbox }>;

/** A user's action on an incident, for the timeline, the activity log and notifications. */
interface AppliedCommand {
  readonly action: IncidentAction | 'create';
  /** null: it did not exist. */
  readonly before: IncidentRow | null;
  readonly after: IncidentRow;
  readonly note: string | null;
  readonly audience?: NoteAudience | null | undefined;
  readonly details: Record<string, unknown> | null;
}

/** Records an action and publishes it, in the transaction that performs it. @returns the incident */
export async function recordCommand(
  { app, actor, caller }: IncidentContext,
  tx: Transaction,
  { action, before, after, note, audience = null, details }: AppliedCommand,
  nameOf: NameOf,
): Promise<Incident> {
  const at = after.updatedAt;
  const by = { id: actor.id, name: nameOfActor(actor) };
  const incident = incidentOf(after, nameOf);
  const statuses = { fromStatus: before?.status ?? null, toStatus: after.status };
  await recordTimeline(tx, [
    { incidentId: after.id, at, userId: actor.id, action, ...statuses, note, audience, details },
  ]);
  const subject = { incidentId: after.id, title: after.title };
  await recordActivity(tx, actor.id, caller, `incidents.${action}`, subject);
  const body: IncidentChange = { action, incident, by, note, at };
  await publish(app, tx, [{ topic: 'incidents', body }]);
  return incident;
}

/**
 * The changes that the caller cannot have seen. Without an expected time, these are changes of the same kind that
 * others made during this request; they are determined before waiting for any lock.
 */
export async function unseenBy(
  { app, actor, caller }: IncidentContext,
  tx: Transaction,
  id: string,
  action: IncidentAction,
  expectedUpdatedAt: string | undefined,
): Promise<Unseen> {
  if (expectedUpdatedAt !== undefined) {
    return { since: new Date(resolveTime(expectedUpdatedAt, app.settings.current().timezone)) };
  }
  const after = isUuid(id) ? await findLastStep(tx, id) : 0;
  return { action, userId: actor.id, after, began: caller.since };
}

/** Additions to a change: a note, and details for the timeline. */
interface CommandNotes {
  readonly note?: string | null;
  readonly audience?: NoteAudience | undefined;
  readonly describe?: (before: IncidentRow, after: IncidentRow, nameOf: NameOf) => Record<string, unknown>;
}

/**
 * Performs a command on an incident; has no effect if its result is already in place. Concurrent commands are applied
 * one after another.
 * @throws AppError `notFound`; `forbidden` when it is assigned to somebody else and the role does not allow it;
 * `conflict` when the state does not allow it, or somebody else has changed it meanwhile
 */
export async function changeIncident(
  ctx: IncidentContext,
  tx: Transaction,
  id: string,
  wanted: Omit<IncidentCommand, 'requiredAssignee'>,
  { note = null, audience, describe }: CommandNotes = {},
): Promise<Incident> {
  const requiredAssignee = changesOnlyOwnIncidents(ctx.actor.role) ? ctx.actor.id : undefined;
  const command = { ...wanted, requiredAssignee };
  const before = await lockIncident(tx, id);
  await refuseIfMerged(tx, before.id);
  const after = await applyCommand(tx, before.id, command);
  if (after === null) await refuseIfAgainstRules(tx, before, command);
  const current = after ?? before;
  const nameOf = await findNames(tx, [current.reportedBy, current.assignedTo, before.assignedTo]);
  if (after === null) return incidentOf(before, nameOf);
  if (command.eventId !== undefined)
    await attachEvents(tx, [{ incidentId: after.id, eventId: command.eventId }]);
  const details = describe?.(before, after, nameOf) ?? null;
  return recordCommand(ctx, tx, { action: command.action, before, after, note, audience, details }, nameOf);
}

function nameOfActor({ firstName, lastName }: Actor): string {
  return `${firstName} ${lastName}`;
}

/**
 * Requires that the state and the role allow an action on an incident, which is locked.
 * @throws AppError `forbidden` or `conflict`
 */
export async function requireAllowed(
  { actor }: IncidentContext,
  tx: Transaction,
  row: IncidentRow,
  action: IncidentAction,
): Promise<void> {
  const requiredAssignee = changesOnlyOwnIncidents(actor.role) ? actor.id : undefined;
  await refuseIfMerged(tx, row.id);
  await refuseIfAgainstRules(tx, row, { action, requiredAssignee });
}

/** @throws AppError `conflict` when the incident was merged into another one, which it names */
async function refuseIfMerged(tx: Transaction, id: string): Promise<void> {
  const into = await findMergedInto(tx, id);
  if (into)
    throw new AppError(
      'conflict',
      `This incident was merged into “${into.title}” (${into.id}): change that one`,
    );
}

/**
 * Finds the rule that prevented a command, from the present state of the locked incident. If there is none, its
 * result was already in place.
 * @throws AppError `forbidden` or `conflict`
 */
async function refuseIfAgainstRules(
  tx: Transaction,
  row: IncidentRow,
  command: IncidentCommand,
): Promise<void> {
  const nameOf = await findNames(tx, [row.assignedTo]);
  const assignee = nameOf(row.assignedTo)?.name ?? null;
  if (
    command.requiredAssignee !== undefined &&
    row.assignedTo !== command.requiredAssignee &&
    assignee !== null
  )
    throw assigneeRefusal(assignee);
  if (!allows(command.action, row.status)) {
    const arrival = await findArrival(tx, row.id, row.status);
    const whoIs = await findNames(tx, [arrival?.userId ?? null]);
    throw stateRefusal(
      row.status,
      arrival && { action: arrival.action, at: arrival.at, who: whoIs(arrival.userId)?.name ?? null },
    );
  }
  if (command.fields === undefined || (await hasFields(tx, row.id, command.fields))) return;
  const isElsewhere =
    command.expectedAssignee !== undefined && command.expectedAssignee?.toLowerCase() !== row.assignedTo;
  const unseen = command.unseen ? await findUnseen(tx, row.id, command.unseen) : null;
  const step = isElsewhere ? await findLastAssignment(tx, row.id) : unseen;
  const nameOfOther = await findNames(tx, [step?.userId ?? null]);
  const who = nameOfOther(step?.userId ?? null)?.name ?? null;
  if (isElsewhere || step?.action === 'assign') throw assignedRefusal(assignee, who);
  if (step) throw changedRefusal({ action: step.action, at: step.at, who });
}
