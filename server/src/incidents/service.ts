import { MINUTE_MS } from '@gantry/contract/durations';
import { changesOnlyOwnIncidents } from '@gantry/contract/incident-states';
import type {
  AddNoteInput,
  AssignIncidentInput,
  CreateIncidentInput,
  FollowIncidentsInput,
  Incident,
  IncidentChange,
  IncidentDetail,
  ListIncidentsInput,
  UpdateIncidentInput,
} from '@gantry/contract/incidents';
import { MAX_LATE_DAYS } from '@gantry/contract/log';
import type { Page } from '@gantry/contract/page';
import { findNames } from '../accounts/names-store.ts';
import { rankOf, severityOfRank } from '../events/severity.ts';
import type { Actor, ActorContext } from '../platform/context.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import { AppError } from '../platform/error.ts';
import { given } from '../platform/given.ts';
import { resolveInterval, resolvePast } from '../platform/time.ts';
import { type FollowContext, follow, type StreamMessage } from '../realtime/follow.ts';
import { assigneeRefusal, changeIncident, type IncidentContext, recordCommand, unseenBy } from './change.ts';
import { listIncidents } from './list-store.ts';
import { choosePlans } from './plans-store.ts';
import { requireAssignee, requireEvents, requirePlaces } from './references-store.ts';
import { requireSteps } from './steps.ts';
import {
  attachEvents,
  findEventsOf,
  getIncidentRow,
  type IncidentFields,
  type IncidentRow,
  incidentOf,
  insertIncidents,
  lockIncident,
} from './store.ts';
import {
  attachImages,
  findNoteByKey,
  listTimeline,
  type NoteImage,
  timelineEntryOf,
} from './timeline-store.ts';
import { viewWork } from './work.ts';
import { takeBackRejection } from './work-store.ts';

// Queries of the API, which add the names of users to the stored rows.

/** @throws AppError `notFound` */
export async function viewIncident({ app: { db } }: ActorContext, id: string): Promise<IncidentDetail> {
  const row = await getIncidentRow(db, id);
  const [attached, timeline, work] = await Promise.all([
    findEventsOf(db, row.id),
    listTimeline(db, row.id),
    viewWork(db, row),
  ]);
  const people = timeline.map(({ userId }) => userId);
  const nameOf = await findNames(db, [row.reportedBy, row.assignedTo, ...people, ...work.people]);
  return {
    ...incidentOf(row, nameOf),
    ...attached,
    timeline: timeline.map((entry) => timelineEntryOf(entry, nameOf)),
    work: work.show(nameOf),
  };
}

/** A page of incidents, with names of people. @throws AppError `badRequest` when the range ends before it starts */
export async function viewIncidents(
  { app, actor }: ActorContext,
  input: ListIncidentsInput,
): Promise<Page<Incident>> {
  const interval = resolveInterval(input, app.settings.current().timezone);
  const { items, total } = await listIncidents(app.db, input, interval, actor);
  const people = items.flatMap(({ reportedBy, assignedTo }) => [reportedBy, assignedTo]);
  const nameOf = await findNames(app.db, people);
  return { items: items.map((row) => incidentOf(row, nameOf)), total };
}

/** Streams changes of all incidents, or of those that match the filter. @throws AppError as `follow` does */
export function followIncidents(
  ctx: FollowContext,
  { lastEventId, ...wanted }: FollowIncidentsInput,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage<'incidents'>> {
  const { type, severity } = wanted;
  const [id, sensorId, locationId] = [wanted.id, wanted.sensorId, wanted.locationId].map((each) =>
    each?.toLowerCase(),
  );
  const matches = ({ incident }: IncidentChange): boolean =>
    (id === undefined || incident.id === id) &&
    (type === undefined || incident.type === type) &&
    (severity === undefined || incident.severity === severity) &&
    (sensorId === undefined || incident.sensorId === sensorId) &&
    (locationId === undefined || incident.locationId === locationId);
  return follow(ctx, { topics: ['incidents'], matches, lastEventId }, signal);
}

/**
 * Opens an incident for a user.
 * @throws AppError `badRequest` when a referenced object does not exist; `forbidden` when the role does not allow the
 * assignment
 */
export function createIncident(
  ctx: IncidentContext,
  { eventIds, severity, ...fields }: CreateIncidentInput,
): Promise<Incident> {
  return inTransaction(ctx.app.db, async (tx) => {
    requireReach(ctx.actor, fields.assignedTo);
    await requirePlaces(tx, fields);
    const assignedTo = fields.assignedTo && (await requireAssignee(tx, 'assignedTo', fields.assignedTo));
    const attached = await requireEvents(tx, eventIds, (position) => `eventIds.${position}`);
    const values = { ...fields, assignedTo, severity: rankOf(severity), reportedBy: ctx.actor.id };
    const [after] = await insertIncidents(tx, [values]);
    if (!after) throw new Error('PostgreSQL did not return the inserted incident');
    await attachEvents(
      tx,
      attached.map((eventId) => ({ incidentId: after.id, eventId })),
    );
    await choosePlans(tx, [after.id]);
    const nameOf = await findNames(tx, [after.reportedBy, after.assignedTo]);
    const known = {
      ...(after.assignedTo !== null && { assignedTo: { from: null, to: nameOf(after.assignedTo)?.name } }),
      ...(attached.length > 0 && { eventIds: attached }),
    };
    const details = Object.keys(known).length > 0 ? known : null;
    return recordCommand(ctx, tx, { action: 'create', before: null, after, note: null, details }, nameOf);
  });
}

type Step = 'acknowledge' | 'start' | 'resolve' | 'close' | 'reopen';

/**
 * Moves an incident to another status.
 * @throws AppError as `changeIncident` does
 */
export function moveIncident(
  ctx: IncidentContext,
  action: Step,
  { id, note }: { id: string; note: string | null },
): Promise<Incident> {
  return inTransaction(ctx.app.db, async (tx) => {
    const incident = await changeIncident(ctx, tx, id, { action }, { note });
    if (action === 'resolve') await requireSteps(tx, incident.id, note);
    if (action === 'reopen') await takeBackRejection(tx, incident.id);
    return incident;
  });
}

/** A note that a user adds; it has a text, images, or both. */
type Note = Omit<AddNoteInput, 'images'>;

/** What was written so much earlier than it arrived has both times, in milliseconds. */
const LATE_MS = MINUTE_MS;

/**
 * Adds a note. Its images, which are stored already, are kept as long as the incident. If its user has added it before,
 * with the same idempotency key, nothing changes.
 * @throws AppError as `changeIncident` and `findFormerNote` do; `badRequest` if it was written in the future or too long ago
 */
export function addNote(
  ctx: IncidentContext,
  { images, ...input }: Note & { readonly images: readonly NoteImage[] },
): Promise<Incident> {
  const { id, note, idempotencyKey } = input;
  const writtenAt = whenWritten(ctx, input);
  return inTransaction(ctx.app.db, async (tx) => {
    // The lock makes a concurrent call with the same key wait.
    const former =
      idempotencyKey !== undefined && (await lockIncident(tx, id)) && (await formerNote(ctx, tx, input));
    if (former) return former;
    const details = {
      ...(images.length > 0 && { images: images.map(({ address }) => address) }),
      ...(writtenAt !== null && { writtenAt }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    };
    const incident = await changeIncident(
      ctx,
      tx,
      id,
      { action: 'addNote' },
      { note, audience: input.audience, ...(Object.keys(details).length > 0 && { describe: () => details }) },
    );
    await attachImages(tx, incident.id, images);
    return incident;
  });
}

/** When a note was written, in ISO 8601; null: just now. @throws AppError `badRequest` in the future, or too long ago */
function whenWritten({ app }: IncidentContext, { writtenAt }: Note): string | null {
  if (writtenAt === undefined) return null;
  const [zone, now] = [app.settings.current().timezone, app.clock.now()];
  const at = resolvePast('writtenAt', writtenAt, { zone, now, maxDays: MAX_LATE_DAYS });
  return now - at > LATE_MS ? new Date(at).toISOString() : null;
}

/** The incident, if the user has added the note before. @throws AppError `conflict` if the key was that of another note */
async function formerNote(
  { actor }: IncidentContext,
  db: Executor,
  { id, note, audience, idempotencyKey }: Note,
): Promise<Incident | null> {
  const row = await getIncidentRow(db, id);
  const former =
    idempotencyKey === undefined ? null : await findNoteByKey(db, row.id, actor.id, idempotencyKey);
  if (!former) return null;
  if (former.note !== note || (former.audience ?? 'INTERNAL') !== audience)
    throw new AppError('conflict', 'You used this idempotencyKey for another note: use a new one');
  return incidentOf(row, await findNames(db, [row.reportedBy, row.assignedTo]));
}

/**
 * Finds the note of a repeated call, and refuses what `addNote` would refuse, before images are stored for it.
 * @returns the incident, if the user has added the note before
 * @throws AppError `notFound`; `forbidden` when it is assigned to somebody else and the role does not allow it;
 *   `badRequest` and `conflict` as `addNote`
 */
export async function findFormerNote(ctx: IncidentContext, input: Note): Promise<Incident | null> {
  const { app, actor } = ctx;
  const former = await formerNote(ctx, app.db, input);
  if (former) return former;
  whenWritten(ctx, input);
  const { assignedTo } = await getIncidentRow(app.db, input.id);
  if (!changesOnlyOwnIncidents(actor.role) || assignedTo === null || assignedTo === actor.id) return null;
  const nameOf = await findNames(app.db, [assignedTo]);
  throw assigneeRefusal(nameOf(assignedTo)?.name ?? 'somebody else');
}

/**
 * Assigns an incident to a user, or clears the assignment.
 * @throws AppError as `changeIncident` does; `badRequest` when it cannot be assigned to the user
 */
export function assignIncident(
  ctx: IncidentContext,
  { id, userId, expectedAssignee, expectedUpdatedAt }: AssignIncidentInput,
): Promise<Incident> {
  return inTransaction(ctx.app.db, async (tx) => {
    const unseen = await unseenBy(ctx, tx, id, 'assign', expectedUpdatedAt);
    requireReach(ctx.actor, userId);
    const assignedTo = userId === null ? null : await requireAssignee(tx, 'userId', userId);
    const command = { action: 'assign' as const, expectedAssignee, unseen, fields: { assignedTo } };
    return changeIncident(ctx, tx, id, command, {
      describe: (before, after, nameOf) => ({
        assignedTo: {
          from: nameOf(before.assignedTo)?.name ?? null,
          to: nameOf(after.assignedTo)?.name ?? null,
        },
      }),
    });
  });
}

/**
 * Sets the given fields; `null` clears a field. Unchanged values are not recorded.
 * @throws AppError as `changeIncident` does; `badRequest` when a location or sensor does not exist
 */
export function updateIncident(
  ctx: IncidentContext,
  { id, severity, expectedUpdatedAt, ...input }: UpdateIncidentInput,
): Promise<Incident> {
  return inTransaction(ctx.app.db, async (tx) => {
    const unseen = await unseenBy(ctx, tx, id, 'update', expectedUpdatedAt);
    await requirePlaces(tx, input);
    const fields: IncidentFields = {
      ...given(input),
      ...(severity && { severity: rankOf(severity) }),
    };
    const command = { action: 'update' as const, unseen, fields };
    return changeIncident(ctx, tx, id, command, {
      describe: (before, after) => differences(before, after, fields),
    });
  });
}

/**
 * Attaches an event to an incident. Has no effect if it is attached already.
 * @throws AppError as `changeIncident` does; `badRequest` when there is no such event
 */
export function attachEvent(
  ctx: IncidentContext,
  { id, eventId: wanted }: { id: string; eventId: string },
): Promise<Incident> {
  return inTransaction(ctx.app.db, async (tx) => {
    const [eventId = wanted] = await requireEvents(tx, [wanted], () => 'eventId');
    const command = { action: 'attachEvent' as const, eventId };
    return changeIncident(ctx, tx, id, command, { describe: () => ({ eventId }) });
  });
}

/** @throws AppError `forbidden` when the role may not assign an incident to this user */
function requireReach(actor: Actor, userId: string | null): void {
  if (userId === null || userId.toLowerCase() === actor.id || !changesOnlyOwnIncidents(actor.role)) return;
  throw new AppError('forbidden', 'With your role you can assign an incident only to yourself or to nobody');
}

function shownAs(row: IncidentRow, field: keyof IncidentFields): unknown {
  return field === 'severity' ? severityOfRank(row.severity) : row[field];
}

/** The fields that differ, with both values. */
function differences(
  before: IncidentRow,
  after: IncidentRow,
  fields: IncidentFields,
): Record<string, unknown> {
  return Object.fromEntries(
    (Object.keys(fields) as (keyof IncidentFields)[])
      .map((field) => [field, { from: shownAs(before, field), to: shownAs(after, field) }] as const)
      .filter(([, { from, to }]) => JSON.stringify(from) !== JSON.stringify(to)),
  );
}
