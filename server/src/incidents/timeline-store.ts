import {
  type IncidentAction,
  type IncidentStatus,
  type IncidentTimelineEntry,
  MAX_INCIDENT_TIMELINE,
} from '@gantry/contract/incidents';
import { and, asc, desc, eq, gt, isNotNull, max, ne, notInArray, or, type SQL, sql } from 'drizzle-orm';
import { incidentTimeline as timeline } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { NameOf } from '../users/names-store.ts';

/** A step in the life of an incident, as it is written down. */
export interface TimelineRow {
  readonly incidentId: string;
  readonly at: Date;
  /** null: the service itself, because of an event. */
  readonly userId: string | null;
  readonly action: IncidentAction | 'create';
  readonly fromStatus: IncidentStatus | null;
  readonly toStatus: IncidentStatus;
  readonly note: string | null;
  readonly details: Record<string, unknown> | null;
}

/** Writes down what was done, in the transaction that does it and after the incident was changed. */
export async function recordTimeline(tx: Executor, rows: readonly TimelineRow[]): Promise<void> {
  if (rows.length > 0) await tx.insert(timeline).values([...rows]);
}

const columns = {
  id: timeline.id,
  at: timeline.at,
  userId: timeline.userId,
  action: sql<TimelineRow['action']>`${timeline.action}`,
  fromStatus: timeline.fromStatus,
  toStatus: timeline.toStatus,
  note: timeline.note,
  details: timeline.details,
};
type ReadRow = Omit<TimelineRow, 'incidentId'> & { readonly id: number };

/** What was done, oldest first. Of very much, what people did and then the latest events are kept. */
export async function listTimeline(db: Executor, incidentId: string): Promise<ReadRow[]> {
  const rows = await db
    .select(columns)
    .from(timeline)
    .where(eq(timeline.incidentId, incidentId))
    .orderBy(asc(sql`${timeline.userId} IS NULL AND ${timeline.action} = 'attachEvent'`), desc(timeline.id))
    .limit(MAX_INCIDENT_TIMELINE);
  return rows.sort((a, b) => a.id - b.id);
}

/** The last step that brought the incident into the state. */
export async function findArrival(
  db: Executor,
  incidentId: string,
  status: IncidentStatus,
): Promise<ReadRow | null> {
  const [row] = await db
    .select(columns)
    .from(timeline)
    .where(
      and(
        eq(timeline.incidentId, incidentId),
        eq(timeline.toStatus, status),
        sql`${timeline.fromStatus} IS DISTINCT FROM ${timeline.toStatus}`,
      ),
    )
    .orderBy(desc(timeline.id))
    .limit(1);
  return row ?? null;
}

/** Which steps somebody who changes an incident cannot have seen. */
export type Unseen =
  | { /** When the incident was last changed as they saw it. */ readonly since: Date }
  | {
      /** They did not say what they saw: steps of this kind that others took while they asked. */
      readonly action: IncidentAction;
      readonly userId: string;
      /** The last step before they asked. */
      readonly after: number;
      /** When they asked, by the monotonic clock of this process. */
      readonly began: number;
    };

/** That there is no such step; for the condition of a change. */
export function nothingUnseen(incidentId: string, unseen: Unseen): SQL {
  return sql`NOT EXISTS (SELECT FROM ${timeline} WHERE ${unseenSteps(incidentId, unseen)})`;
}

/** The last such step; null: there is none. */
export async function findUnseen(db: Executor, incidentId: string, unseen: Unseen): Promise<ReadRow | null> {
  const [row] = await db
    .select(columns)
    .from(timeline)
    .where(unseenSteps(incidentId, unseen))
    .orderBy(desc(timeline.id))
    .limit(1);
  return row ?? null;
}

/** The last time that the incident was assigned; null: it was opened so. */
export async function findLastAssignment(db: Executor, incidentId: string): Promise<ReadRow | null> {
  const [row] = await db
    .select(columns)
    .from(timeline)
    .where(and(eq(timeline.incidentId, incidentId), eq(timeline.action, 'assign')))
    .orderBy(desc(timeline.id))
    .limit(1);
  return row ?? null;
}

/** The number of the last step; 0: there is none. */
export async function findLastStep(db: Executor, incidentId: string): Promise<number> {
  const [row] = await db
    .select({ id: max(timeline.id) })
    .from(timeline)
    .where(eq(timeline.incidentId, incidentId));
  return row?.id ?? 0;
}

/** A step as answers show it. */
export function timelineEntryOf(row: ReadRow, nameOf: NameOf): IncidentTimelineEntry {
  return {
    action: row.action,
    at: row.at,
    by: nameOf(row.userId),
    from: row.fromStatus,
    to: row.toStatus,
    note: row.note,
    details: row.details,
  };
}

/** The steps, taken by people, that are unseen. Events that are attached and notes are in nobody's way. */
function unseenSteps(incidentId: string, unseen: Unseen): SQL | undefined {
  return and(
    eq(timeline.incidentId, incidentId),
    isNotNull(timeline.userId),
    'since' in unseen
      ? and(notInArray(timeline.action, ['attachEvent', 'addNote']), gt(timeline.at, unseen.since))
      : and(
          eq(timeline.action, unseen.action),
          ne(timeline.userId, unseen.userId),
          or(
            gt(timeline.id, unseen.after),
            sql`${timeline.at} > statement_timestamp() - ${performance.now() - unseen.began} * interval '1 millisecond'`,
          ),
        ),
  );
}
