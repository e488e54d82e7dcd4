import { recordingActions } from '@gantry/contract/incident-states';
import type { NoteAudience } from '@gantry/contract/incident-work';
import {
  type IncidentAction,
  type IncidentStatus,
  type IncidentTimelineEntry,
  MAX_INCIDENT_TIMELINE,
} from '@gantry/contract/incidents';
import { and, asc, desc, eq, gt, inArray, isNotNull, max, notInArray, or, type SQL, sql } from 'drizzle-orm';
import type { NameOf } from '../accounts/names-store.ts';
import { incidentTimeline as timeline } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';

/** An entry of an incident's timeline. */
export interface TimelineRow {
  readonly incidentId: string;
  readonly at: Date;
  /** null: the service itself, because of an event. */
  readonly userId: string | null;
  readonly action: IncidentAction | 'create';
  readonly fromStatus: IncidentStatus | null;
  readonly toStatus: IncidentStatus;
  readonly note: string | null;
  /** Of a note; null: INTERNAL. */
  readonly audience?: NoteAudience | null;
  readonly details: Record<string, unknown> | null;
}

/** Records timeline entries. Call it in the transaction of the change, after the change. */
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
  audience: timeline.audience,
  details: timeline.details,
};
type ReadRow = Omit<TimelineRow, 'incidentId'> & { readonly id: number };

/** The timeline, oldest first. If it is very long, the actions of users and the latest events are kept. */
export async function listTimeline(db: Executor, incidentId: string): Promise<ReadRow[]> {
  const rows = await db
    .select(columns)
    .from(timeline)
    .where(eq(timeline.incidentId, incidentId))
    .orderBy(asc(sql`${timeline.userId} IS NULL AND ${timeline.action} = 'attachEvent'`), desc(timeline.id))
    .limit(MAX_INCIDENT_TIMELINE);
  return rows.sort((a, b) => a.id - b.id);
}

/** The last entry that set the incident's present status. */
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

/** The timeline entries that a caller cannot have seen. */
export type Unseen =
  | { /** The time of the last change that the caller saw. */ readonly since: Date }
  | {
      /** The caller did not state it: entries of this kind that others added during the request. */
      readonly action: IncidentAction;
      readonly userId: string;
      /** The last entry before the request. */
      readonly after: number;
      /** When the request began, by the monotonic clock of this process. */
      readonly began: number;
    };

/** The condition that there is no such entry. */
export function nothingUnseen(incidentId: string, unseen: Unseen): SQL {
  return sql`NOT EXISTS (SELECT FROM ${timeline} WHERE ${unseenSteps(incidentId, unseen)})`;
}

/** The last such entry; null when there is none. */
export async function findUnseen(db: Executor, incidentId: string, unseen: Unseen): Promise<ReadRow | null> {
  const [row] = await db
    .select(columns)
    .from(timeline)
    .where(unseenSteps(incidentId, unseen))
    .orderBy(desc(timeline.id))
    .limit(1);
  return row ?? null;
}

/** The last assignment of the incident; null when it has not been assigned since it was opened. */
export async function findLastAssignment(db: Executor, incidentId: string): Promise<ReadRow | null> {
  const [row] = await db
    .select(columns)
    .from(timeline)
    .where(and(eq(timeline.incidentId, incidentId), eq(timeline.action, 'assign')))
    .orderBy(desc(timeline.id))
    .limit(1);
  return row ?? null;
}

/** A note that a user added with an idempotency key, also if the incident was merged into another one since. */
export async function findNoteByKey(
  db: Executor,
  incidentId: string,
  userId: string,
  key: string,
): Promise<ReadRow | null> {
  const [row] = await db
    .select(columns)
    .from(timeline)
    .where(
      and(
        sql`${timeline.incidentId} IN (${incidentId}::uuid,
          (SELECT merged_into FROM incident_work WHERE incident_id = ${incidentId}::uuid))`,
        eq(timeline.action, 'addNote'),
        eq(timeline.userId, userId),
        sql`${timeline.details} ->> 'idempotencyKey' = ${key}`,
      ),
    )
    .limit(1);
  return row ?? null;
}

/** The time (Unix milliseconds) that the completion of a step of the plan set last; null if it set none. */
export async function findTimeSetBy(
  db: Executor,
  incidentId: string,
  stepKey: string,
  time: string,
): Promise<number | null> {
  const [row] = await db
    .select({ to: sql<string | null>`${timeline.details} -> ${time}::text ->> 'to'` })
    .from(timeline)
    .where(
      and(
        eq(timeline.incidentId, incidentId),
        eq(timeline.action, 'completeStep'),
        sql`${timeline.details} -> 'step' ->> 'key' = ${stepKey}`,
      ),
    )
    .orderBy(desc(timeline.id))
    .limit(1);
  return row?.to == null ? null : Date.parse(row.to);
}

/** The number of the last entry; 0 when there is none. */
export async function findLastStep(db: Executor, incidentId: string): Promise<number> {
  const [row] = await db
    .select({ id: max(timeline.id) })
    .from(timeline)
    .where(eq(timeline.incidentId, incidentId));
  return row?.id ?? 0;
}

/** An entry as the API returns it. */
export function timelineEntryOf(row: ReadRow, nameOf: NameOf): IncidentTimelineEntry {
  const { idempotencyKey: _, ...details } = row.details ?? {};
  return {
    action: row.action,
    at: row.at,
    by: nameOf(row.userId),
    from: row.fromStatus,
    to: row.toStatus,
    note: row.note,
    ...(row.action === 'addNote' && { audience: row.audience ?? ('INTERNAL' as const) }),
    details: Object.keys(details).length > 0 ? details : null,
  };
}

/**
 * The unseen entries of users, and of the service when an event raised the severity or resolved the incident. What
 * is only recorded, such as events, notes and times, prevents nothing.
 */
function unseenSteps(incidentId: string, unseen: Unseen): SQL | undefined {
  return and(
    eq(timeline.incidentId, incidentId),
    or(isNotNull(timeline.userId), inArray(timeline.action, ['update', 'resolve'])),
    'since' in unseen
      ? and(notInArray(timeline.action, [...recordingActions]), gt(timeline.at, unseen.since))
      : and(
          eq(timeline.action, unseen.action),
          sql`${timeline.userId} IS DISTINCT FROM ${unseen.userId}`,
          or(
            gt(timeline.id, unseen.after),
            sql`${timeline.at} > statement_timestamp() - ${performance.now() - unseen.began} * interval '1 millisecond'`,
          ),
        ),
  );
}

/** An image of a note, which is stored already. */
export interface NoteImage {
  /** SHA-256, 64 hexadecimal digits. */
  readonly sha256: string;
  readonly address: string;
}

/** Records that an incident refers to these images, so that they are kept. */
export async function attachImages(
  tx: Executor,
  incidentId: string,
  images: readonly NoteImage[],
): Promise<void> {
  if (images.length === 0) return;
  const hashes = images.map(({ sha256 }) => sha256);
  await tx.execute(sql`
    INSERT INTO incident_images (incident_id, sha256)
    SELECT ${incidentId}::uuid, decode(hex, 'hex') FROM unnest(${sql.param(hashes)}::text[]) AS hex ORDER BY hex
    ON CONFLICT DO NOTHING`);
}
