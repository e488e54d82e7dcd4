import {
  type IncidentAction,
  type IncidentStatus,
  type IncidentTimelineEntry,
  MAX_INCIDENT_TIMELINE,
} from '@gantry/contract/incidents';
import { and, asc, desc, eq, sql } from 'drizzle-orm';
import { incidentTimeline as timeline } from '../database/tables.ts';
import type { Executor } from '../database/transaction.ts';
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
export const recordTimeline = async (tx: Executor, rows: readonly TimelineRow[]): Promise<void> => {
  if (rows.length > 0) await tx.insert(timeline).values([...rows]);
};

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
export const listTimeline = async (db: Executor, incidentId: string): Promise<ReadRow[]> => {
  const rows = await db
    .select(columns)
    .from(timeline)
    .where(eq(timeline.incidentId, incidentId))
    .orderBy(asc(sql`${timeline.userId} IS NULL AND ${timeline.action} = 'attachEvent'`), desc(timeline.id))
    .limit(MAX_INCIDENT_TIMELINE);
  return rows.sort((a, b) => a.id - b.id);
};

/** The last step that brought the incident into the state. */
export const findArrival = async (
  db: Executor,
  incidentId: string,
  status: IncidentStatus,
): Promise<ReadRow | null> => {
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
};

/** A step as answers show it. */
export const timelineEntryOf = (row: ReadRow, nameOf: NameOf): IncidentTimelineEntry => ({
  action: row.action,
  at: row.at,
  by: nameOf(row.userId),
  from: row.fromStatus,
  to: row.toStatus,
  note: row.note,
  details: row.details,
});
