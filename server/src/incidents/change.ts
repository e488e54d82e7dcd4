import { isUuid } from '@gantry/contract/id';
import { changesOnlyOwnIncidents } from '@gantry/contract/incident-states';
import type { Incident, IncidentAction, IncidentChange } from '@gantry/contract/incidents';
import { findNames, type NameOf } from '../accounts/names-store.ts';
import { recordActivity } from '../activity/store.ts';
import type { Actor, ActorContext, Core } from '../platform/context.ts';
import type { Transaction } from '../platform/database/transaction.ts';
import { resolveTime } from '../platform/time.ts';
import { type Outbox, publish } from '../realtime/publish.ts';
import { allows, assignedRefusal, assigneeRefusal, changedRefusal, stateRefusal } from './refusal.ts';
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

/** The context of changes to incidents. */
export type IncidentContext = ActorContext<Core & { readonly outbox: Outbox }>;

/** A user's action on an incident, for the timeline, the activity log and notifications. */
export interface AppliedCommand {
  readonly action: IncidentAction | 'create';
  /** null: it did not exist. */
  readonly before: IncidentRow | null;
  readonly after: IncidentRow;
  readonly note: string | null;
  readonly details: Record<string, unknown> | null;
}

/** Records an action and publishes it, in the transaction that performs it. @returns the incident */
export async function recordCommand(
  { app, actor, caller }: IncidentContext,
  tx: Transaction,
  { action, before, after, note, details }: AppliedCommand,
  nameOf: NameOf,
): Promise<Incident> {
  const at = after.updatedAt;
  const by = { id: actor.id, name: nameOfActor(actor) };
  const incident = incidentOf(after, nameOf);
  const statuses = { fromStatus: before?.status ?? null, toStatus: after.status };
  await recordTimeline(tx, [
    { incidentId: after.id, at, userId: actor.id, action, ...statuses, note, details },
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
export interface CommandNotes {
  readonly note?: string | null;
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
  { note = null, describe }: CommandNotes = {},
): Promise<Incident> {
  const requiredAssignee = changesOnlyOwnIncidents(ctx.actor.role) ? ctx.actor.id : undefined;
  const command = { ...wanted, requiredAssignee };
  const before = await lockIncident(tx, id);
  const after = await applyCommand(tx, before.id, command);
  if (after === null) await refuseIfAgainstRules(tx, before, command);
  const current = after ?? before;
  const nameOf = await findNames(tx, [current.reportedBy, current.assignedTo, before.assignedTo]);
  if (after === null) return incidentOf(before, nameOf);
  if (command.eventId !== undefined)
    await attachEvents(tx, [{ incidentId: after.id, eventId: command.eventId }]);
  const details = describe?.(before, after, nameOf) ?? null;
  return recordCommand(ctx, tx, { action: command.action, before, after, note, details }, nameOf);
}

function nameOfActor({ firstName, lastName }: Actor): string {
  return `${firstName} ${lastName}`;
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
