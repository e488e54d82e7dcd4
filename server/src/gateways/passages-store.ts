import { sql } from 'drizzle-orm';
import type { PartOfPassage, Report } from '../connections/format.ts';
import type { Executor } from '../platform/database/transaction.ts';

/** The observation of one vehicle, of which a device reports several times. */
export interface PassageKey {
  readonly connectionId: string;
  readonly sensorId: string;
  readonly passage: string;
}

/** The best report of a passage, and where it is from. */
export interface BestReport {
  readonly report: Report;
  readonly messageId: string;
  readonly index: number;
}

/** A passage that is complete, to be stored as one event. */
export interface CompletePassage extends PassageKey {
  readonly best: BestReport;
  readonly images: readonly string[];
  /** The earliest times of all reports, in Unix milliseconds. */
  readonly believedAt: number | null;
  readonly receivedAt: number;
}

/** One report of a passage. */
export interface HeldReport extends PassageKey {
  readonly part: PartOfPassage;
  readonly best: BestReport;
  readonly believedAt: number | null;
  readonly receivedAt: number;
}

/** The state of a passage after a report was added. */
export interface Held {
  /** Set if this report completed it: the caller stores it as an event. */
  readonly complete: CompletePassage | null;
  /** Set if it was stored before. */
  readonly eventId: string | null;
  /** Set if it was complete before and could not be stored. */
  readonly refusal: string | null;
}

interface PassageRow extends Record<string, unknown> {
  connection_id: string;
  sensor_id: string;
  passage: string;
  report: string;
  images: string[];
  believed_at: string | null;
  received_at: string;
  event_id: string | null;
  reason: string | null;
  is_closed: boolean;
  closes: boolean;
}

const ROW = sql.raw(
  'p.connection_id, p.sensor_id, p.passage, p.report, p.images, p.believed_at, p.received_at, p.event_id, p.reason',
);

const MOST_IMAGES = 20;

/**
 * Adds a report to its passage. One that arrives after the passage was completed adds nothing.
 * @param leaseMs how long the caller has to store the passage if it is complete
 */
export async function holdReport(
  db: Executor,
  { connectionId, sensorId, passage, part, best, believedAt, receivedAt }: HeldReport,
  leaseMs: number,
): Promise<Held> {
  const images = (best.report.event.images ?? []).slice(0, MOST_IMAGES);
  const wait = sql`now() + ${part.isLast ? leaseMs : part.waitSeconds * 1_000}::float8 * interval '1 millisecond'`;
  const isOpen = sql.raw('p.closed_at IS NULL');
  const isBetter = sql.raw('p.closed_at IS NULL AND excluded.quality >= p.quality');
  const { rows } = await db.execute<PassageRow>(sql`
    INSERT INTO device_passages AS p (connection_id, sensor_id, passage, quality, report, images, message_ids,
      believed_at, received_at, due_at, closed_at)
    VALUES (${connectionId}::uuid, ${sensorId}::uuid, ${passage}, ${part.quality}, ${JSON.stringify(best)},
      ${sql.param(images)}::text[], ARRAY[${best.messageId}::uuid],
      to_timestamp(${believedAt === null ? null : believedAt / 1_000}::float8),
      to_timestamp(${receivedAt / 1_000}::float8), ${wait}, ${part.isLast ? sql`now()` : sql`NULL::timestamptz`})
    ON CONFLICT (connection_id, sensor_id, passage) DO UPDATE SET
      quality = CASE WHEN ${isBetter} THEN excluded.quality ELSE p.quality END,
      report = CASE WHEN ${isBetter} THEN excluded.report ELSE p.report END,
      images = CASE WHEN ${isOpen} AND cardinality(p.images) < ${MOST_IMAGES}
        THEN p.images || ARRAY(SELECT unnest(excluded.images) EXCEPT SELECT unnest(p.images)) ELSE p.images END,
      message_ids = CASE WHEN excluded.message_ids <@ p.message_ids THEN p.message_ids
        ELSE p.message_ids || excluded.message_ids END,
      believed_at = CASE WHEN ${isOpen} THEN least(p.believed_at, excluded.believed_at) ELSE p.believed_at END,
      received_at = CASE WHEN ${isOpen} THEN least(p.received_at, excluded.received_at) ELSE p.received_at END,
      due_at = CASE WHEN ${isOpen} THEN excluded.due_at ELSE p.due_at END,
      closed_at = coalesce(p.closed_at, excluded.closed_at)
    RETURNING ${ROW}, p.closed_at IS NOT NULL AS is_closed, coalesce(p.closed_at = now()::timestamptz(3), false) AS closes`);
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL did not return the passage');
  return {
    complete: row.closes && row.event_id === null && part.isLast ? asComplete(row) : null,
    eventId: row.event_id,
    refusal: row.reason,
  };
}

/** Completes passages that are due, and claims those that somebody left incomplete. */
export async function claimPassages(
  db: Executor,
  { most, leaseMs }: { readonly most: number; readonly leaseMs: number },
): Promise<CompletePassage[]> {
  const { rows } = await db.execute<PassageRow>(sql`
    WITH due AS (
      SELECT connection_id, sensor_id, passage FROM device_passages WHERE due_at <= now()
      ORDER BY due_at LIMIT ${most} FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE device_passages AS p SET closed_at = coalesce(closed_at, now()),
      due_at = now() + ${leaseMs}::float8 * interval '1 millisecond'
    FROM due WHERE p.connection_id = due.connection_id AND p.sensor_id = due.sensor_id AND p.passage = due.passage
    RETURNING ${ROW}`);
  return rows.map(asComplete);
}

/** Records the event of a passage, or why there is none. @returns its messages */
export async function finishPassage(
  db: Executor,
  { connectionId, sensorId, passage }: PassageKey,
  { eventId, reason }: { readonly eventId: string | null; readonly reason: string | null },
): Promise<string[]> {
  const { rows } = await db.execute<{ message_ids: string[] }>(sql`
    UPDATE device_passages SET event_id = ${eventId}::uuid, reason = ${reason}, due_at = NULL
    WHERE connection_id = ${connectionId}::uuid AND sensor_id = ${sensorId}::uuid AND passage = ${passage}
    RETURNING message_ids`);
  return rows[0]?.message_ids ?? [];
}

/** The event of a passage, or why there is none, if it is finished. */
export async function findFinished(
  db: Executor,
  { connectionId, sensorId, passage }: PassageKey,
): Promise<{ readonly eventId: string | null; readonly reason: string | null } | null> {
  const { rows } = await db.execute<{ event_id: string | null; reason: string | null }>(sql`
    SELECT event_id, reason FROM device_passages
    WHERE connection_id = ${connectionId}::uuid AND sensor_id = ${sensorId}::uuid AND passage = ${passage}
      AND closed_at IS NOT NULL AND due_at IS NULL`);
  const [row] = rows;
  return row ? { eventId: row.event_id, reason: row.reason } : null;
}

function asComplete(row: PassageRow): CompletePassage {
  return {
    connectionId: row.connection_id,
    sensorId: row.sensor_id,
    passage: row.passage,
    best: JSON.parse(row.report) as BestReport,
    images: row.images,
    believedAt: row.believed_at === null ? null : new Date(row.believed_at).getTime(),
    receivedAt: new Date(row.received_at).getTime(),
  };
}
