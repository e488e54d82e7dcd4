import type { Event } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import { incidentStates } from '@gantry/contract/incident-states';
import {
  type Incident,
  type IncidentAction,
  type IncidentStatus,
  MAX_INCIDENT_EVENTS,
} from '@gantry/contract/incidents';
import { and, desc, eq, getTableColumns, inArray, isNull, or, type SQL, sql } from 'drizzle-orm';
import type { NameOf } from '../accounts/names-store.ts';
import { severityOfRank } from '../events/severity.ts';
import { findEvents } from '../events/store.ts';
import { timeOfUpdate } from '../platform/database/moment.ts';
import { incidentEvents, incidents } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import { nothingUnseen, type Unseen } from './timeline-store.ts';

export type IncidentRow = typeof incidents.$inferSelect;
export type NewIncident = typeof incidents.$inferInsert;

const columns = Object.entries(getTableColumns(incidents));

/** Converts the row of a statement that drizzle did not build. */
export function readIncident(row: Readonly<Record<string, unknown>>): IncidentRow {
  return Object.fromEntries(
    columns.map(([field, column]) => {
      const value = row[column.name];
      return [field, value === null ? null : column.mapFromDriverValue(value)];
    }),
  ) as IncidentRow;
}

/** An incident as the API returns it. */
export function incidentOf(
  { lastEventAt: _, reportedType: _type, reportedSeverity: _severity, sourceKey: _key, ...row }: IncidentRow,
  nameOf: NameOf,
): Incident {
  return {
    ...row,
    severity: severityOfRank(row.severity) ?? 'MEDIUM',
    reportedBy: nameOf(row.reportedBy),
    assignedTo: nameOf(row.assignedTo),
  };
}

/** An incident; null if there is none with the id. */
export async function findIncidentRow(db: Executor, id: string): Promise<IncidentRow | null> {
  const [row] = isUuid(id) ? await db.select().from(incidents).where(eq(incidents.id, id)) : [];
  return row ?? null;
}

/** @throws AppError `notFound` */
export async function getIncidentRow(db: Executor, id: string): Promise<IncidentRow> {
  const row = await findIncidentRow(db, id);
  if (!row) throw notFound('Incident');
  return row;
}

/**
 * Reads an incident before a change, and locks it until the transaction ends.
 * @throws AppError `notFound`
 */
export async function lockIncident(tx: Transaction, id: string): Promise<IncidentRow> {
  const row = await lockIncidentIfAny(tx, id);
  if (!row) throw notFound('Incident');
  return row;
}

/** The same; null if there is none. */
export async function lockIncidentIfAny(tx: Transaction, id: string): Promise<IncidentRow | null> {
  const [row] = isUuid(id)
    ? await tx.select().from(incidents).where(eq(incidents.id, id)).for('no key update')
    : [];
  return row ?? null;
}

/** The age of an event from which the incident that it opens counts as backlog. */
const BACKLOG_AGE = sql`interval '15 minutes'`;

/** Stores new incidents in the given order, and marks those that are part of a backlog. */
export async function insertIncidents(tx: Executor, values: readonly NewIncident[]): Promise<IncidentRow[]> {
  return values.length === 0
    ? []
    : tx
        .insert(incidents)
        .values(values.map((value) => ({ ...value, backlog: isBacklog(value) })))
        .returning();
}

/**
 * The time of a change. The row is locked before this statement begins, so no change is dated before the previous
 * one.
 */
export const moment = timeOfUpdate(incidents.updatedAt);

interface Moments {
  acknowledgedAt?: SQL;
  resolvedAt?: SQL | null;
  closedAt?: SQL | null;
}
const momentsOf: Partial<Record<IncidentAction, Moments>> = {
  acknowledge: { acknowledgedAt: sql`coalesce(${incidents.acknowledgedAt}, ${moment})` },
  resolve: { resolvedAt: moment },
  close: { closedAt: moment },
  rejectFalse: { closedAt: moment },
  merge: { closedAt: moment },
  reopen: { resolvedAt: null, closedAt: null },
};

/** The fields that users may set. */
export type IncidentFields = Partial<
  Pick<
    IncidentRow,
    | 'title'
    | 'description'
    | 'type'
    | 'severity'
    | 'location'
    | 'locationId'
    | 'sensorId'
    | 'lanesBlocked'
    | 'assignedTo'
  >
>;

/** A change of an incident with its conditions. */
export interface IncidentCommand {
  readonly action: IncidentAction;
  /** It must be assigned to this user or unassigned. */
  readonly requiredAssignee?: string | undefined;
  /** It must be assigned to this user; null: it must be unassigned. */
  readonly expectedAssignee?: string | null | undefined;
  /** Changes that the caller cannot have seen; there must be none. */
  readonly unseen?: Unseen | undefined;
  /** The fields to set; at least one must differ from its present value. */
  readonly fields?: IncidentFields;
  /** Fields that follow from the action, whether they differ or not. */
  readonly also?: IncidentFields | undefined;
  /** The event to attach; it must not be attached yet. */
  readonly eventId?: string;
}

/** Whether the incident has these values already. */
export async function hasFields(db: Executor, id: string, fields: IncidentFields): Promise<boolean> {
  return (await db.$count(incidents, and(eq(incidents.id, id), differs(fields) ?? sql`false`))) === 0;
}

/**
 * Changes an incident, if the table of states allows the action and every condition holds; the database decides.
 * @returns the incident after the change; null when nothing changed
 */
export async function applyCommand(
  tx: Transaction,
  id: string,
  { action, requiredAssignee, expectedAssignee, unseen, fields, also, eventId }: IncidentCommand,
): Promise<IncidentRow | null> {
  const next: Partial<Record<IncidentStatus, IncidentStatus>> = incidentStates[action];
  const [row] = await tx
    .update(incidents)
    .set({
      ...fields,
      ...also,
      ...momentsOf[action],
      ...(eventId !== undefined && { lastEventAt: latestWith(eventId) }),
      status: sql`${JSON.stringify(next)}::jsonb ->> ${incidents.status}`,
      updatedAt: moment,
    })
    .where(
      and(
        eq(incidents.id, id),
        inArray(incidents.status, Object.keys(next) as IncidentStatus[]),
        requiredAssignee === undefined
          ? undefined
          : or(isNull(incidents.assignedTo), eq(incidents.assignedTo, requiredAssignee)),
        expectedAssignee === undefined ? undefined : isAssignedTo(expectedAssignee),
        unseen && nothingUnseen(id, unseen),
        fields && (differs(fields) ?? sql`false`),
        eventId === undefined ? undefined : lacks(eventId),
      ),
    )
    .returning();
  return row ?? null;
}

/** Resolves an incident by the service itself. @returns it; null if it is not open (any more) */
export async function resolveOpen(tx: Transaction, id: string): Promise<IncidentRow | null> {
  const [row] = await tx
    .update(incidents)
    .set({ status: 'RESOLVED', resolvedAt: moment, updatedAt: moment })
    .where(and(eq(incidents.id, id), inArray(incidents.status, ['OPEN', 'ACKNOWLEDGED', 'IN_PROGRESS'])))
    .returning();
  return row ?? null;
}

/** An event that is attached to an incident. */
export interface Attachment {
  readonly incidentId: string;
  readonly eventId: string;
}

/** Attaches events to incidents; existing attachments stay. */
export async function attachEvents(tx: Executor, attachments: readonly Attachment[]): Promise<void> {
  if (attachments.length > 0)
    await tx
      .insert(incidentEvents)
      .values([...attachments])
      .onConflictDoNothing();
}

/** The newest events of an incident, with the number of all. */
export async function findEventsOf(
  db: Executor,
  incidentId: string,
): Promise<{ events: Event[]; eventCount: number }> {
  const ofIncident = eq(incidentEvents.incidentId, incidentId);
  const newest = await db
    .select({ eventId: incidentEvents.eventId })
    .from(incidentEvents)
    .where(ofIncident)
    .orderBy(desc(incidentEvents.eventId))
    .limit(MAX_INCIDENT_EVENTS);
  const ids = newest.map(({ eventId }) => eventId);
  // Two statements, because a join could not be sent to the nodes that hold the events.
  const found = await findEvents(db, ids);
  const events = ids.flatMap((id) => found.get(id) ?? []);
  if (ids.length < MAX_INCIDENT_EVENTS) return { events, eventCount: ids.length };
  return { events, eventCount: await db.$count(incidentEvents, ofIncident) };
}

/** Whether an incident is opened by an event of some time ago, by the database's clock. */
function isBacklog({ openedAt }: NewIncident): SQL | false {
  return (
    openedAt instanceof Date &&
    sql`${openedAt.toISOString()}::timestamptz < statement_timestamp() - ${BACKLOG_AGE}`
  );
}

function isAssignedTo(userId: string | null): SQL {
  if (userId === null) return isNull(incidents.assignedTo);
  return isUuid(userId) ? eq(incidents.assignedTo, userId) : sql`false`;
}

function differs(fields: IncidentFields): SQL | undefined {
  return or(
    ...Object.entries(fields).map(([name, value]) => {
      const column = incidents[name as keyof IncidentFields];
      return sql`${column} IS DISTINCT FROM ${sql.param(value, column)}`;
    }),
  );
}

/** The incidents that an event is attached to, the latest attachment first. */
export async function findIncidentIdsOf(db: Executor, eventId: string): Promise<string[]> {
  const rows = await db
    .select({ incidentId: incidentEvents.incidentId })
    .from(incidentEvents)
    .where(eq(incidentEvents.eventId, eventId))
    .orderBy(desc(incidentEvents.attachedAt), incidentEvents.incidentId)
    .limit(MAX_INCIDENT_EVENTS);
  return rows.map(({ incidentId }) => incidentId);
}

function latestWith(eventId: string): SQL<Date> {
  return sql`greatest(${incidents.lastEventAt}, ${incidents.openedAt}, event_time(${eventId}::uuid))`;
}

function lacks(eventId: string): SQL {
  return sql`NOT EXISTS (
  SELECT FROM ${incidentEvents}
  WHERE ${incidentEvents.incidentId} = ${incidents.id} AND ${incidentEvents.eventId} = ${eventId})`;
}
