import type { PartOfPassage, Report } from '@gantry/device-formats/format';
import { sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';

/** Identifies a passage: the observation of one vehicle, which a device reports several times. */
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
  /** What was left out of it. Absent in passages that were held by an older version. */
  readonly note?: string | null;
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
  /** Set if it turned out to be a part of another passage. */
  readonly joinedTo: string | null;
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
  joined_to: string | null;
  closes: boolean;
}

const ROW = sql.raw(
  `p.connection_id, p.sensor_id, p.passage, p.report, p.images, p.believed_at, p.received_at, p.event_id, p.reason,
  p.joined_to`,
);

const MAX_IMAGES = 20;

/**
 * Adds a report to its passage. One that arrives after the passage was completed adds nothing.
 * @param leaseMs how long the caller has to store the passage if it is complete
 */
export async function holdReport(
  db: Executor,
  { connectionId, sensorId, passage, part, best, believedAt, receivedAt }: HeldReport,
  leaseMs: number,
): Promise<Held> {
  const images = (best.report.event.images ?? []).slice(0, MAX_IMAGES);
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
      images = CASE WHEN ${isOpen} AND cardinality(p.images) < ${MAX_IMAGES}
        THEN p.images || ARRAY(SELECT unnest(excluded.images) EXCEPT SELECT unnest(p.images)) ELSE p.images END,
      message_ids = CASE WHEN excluded.message_ids <@ p.message_ids THEN p.message_ids
        ELSE p.message_ids || excluded.message_ids END,
      believed_at = CASE WHEN ${isOpen} THEN least(p.believed_at, excluded.believed_at) ELSE p.believed_at END,
      received_at = CASE WHEN ${isOpen} THEN least(p.received_at, excluded.received_at) ELSE p.received_at END,
      due_at = CASE WHEN ${isOpen} THEN excluded.due_at ELSE p.due_at END,
      closed_at = coalesce(p.closed_at, excluded.closed_at)
    RETURNING ${ROW}, coalesce(p.closed_at = now()::timestamptz(3), false) AS closes`);
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL did not return the passage');
  return {
    complete: row.closes && row.event_id === null && part.isLast ? asComplete(row) : null,
    eventId: row.event_id,
    refusal: row.event_id === null ? row.reason : null,
    joinedTo: row.joined_to,
  };
}

/**
 * Locks the passages with other ids of a passage until the transaction ends.
 * @returns the first of these ids whose event a process is storing; null if there is none
 */
export async function lockOthers(
  tx: Executor,
  { connectionId, sensorId }: PassageKey,
  others: readonly string[],
): Promise<string | null> {
  const { rows } = await tx.execute<{ passage: string; is_being_stored: boolean }>(sql`
    SELECT passage, closed_at IS NOT NULL AND due_at IS NOT NULL AND event_id IS NULL AS is_being_stored
    FROM device_passages WHERE connection_id = ${connectionId}::uuid AND sensor_id = ${sensorId}::uuid
      AND passage = ANY (${sql.param(others)}::text[])
    ORDER BY passage FOR NO KEY UPDATE`);
  return rows.find(({ is_being_stored }) => is_being_stored)?.passage ?? null;
}

/** Makes an open passage a part of another one, whose event is being stored without it. Its messages get that event. */
export async function becomePartOf(
  tx: Executor,
  { connectionId, sensorId, passage }: PassageKey,
  other: string,
): Promise<void> {
  await tx.execute(sql`
    WITH part AS (
      UPDATE device_passages SET joined_to = ${other}, closed_at = now(), due_at = NULL
      WHERE connection_id = ${connectionId}::uuid AND sensor_id = ${sensorId}::uuid AND passage = ${passage}
        AND closed_at IS NULL
      RETURNING message_ids
    )
    UPDATE device_passages AS whole SET message_ids = whole.message_ids || ARRAY(
      SELECT unnest(part.message_ids) EXCEPT SELECT unnest(whole.message_ids))
    FROM part WHERE whole.connection_id = ${connectionId}::uuid AND whole.sensor_id = ${sensorId}::uuid
      AND whole.passage = ${other}`);
}

/** What was held under another id of a passage. */
export interface JoinedPassage {
  /** Null if nothing was held under it. */
  readonly best: BestReport | null;
  readonly quality: number;
  readonly images: readonly string[];
  readonly messageIds: readonly string[];
  readonly believedAt: number | null;
  readonly receivedAt: number;
  /** Set if it became an event before. */
  readonly eventId: string | null;
}

/**
 * Closes another id of a passage, so that what arrives under it later creates nothing.
 * @returns what was held under it; null if it belonged to this passage already
 */
export async function joinPassage(
  tx: Executor,
  { connectionId, sensorId, passage }: PassageKey,
  other: string,
  receivedAt: number,
): Promise<JoinedPassage | null> {
  const { rows } = await tx.execute<PassageRow & { quality: number; message_ids: string[] }>(sql`
    INSERT INTO device_passages AS p (connection_id, sensor_id, passage, quality, report, images, message_ids,
      received_at, closed_at, joined_to)
    VALUES (${connectionId}::uuid, ${sensorId}::uuid, ${other}, 0, 'null', '{}', '{}',
      to_timestamp(${receivedAt / 1_000}::float8), now(), ${passage})
    ON CONFLICT (connection_id, sensor_id, passage) DO UPDATE SET joined_to = excluded.joined_to,
      closed_at = coalesce(p.closed_at, now()), due_at = CASE WHEN p.closed_at IS NULL THEN NULL ELSE p.due_at END
    WHERE p.joined_to IS DISTINCT FROM excluded.joined_to
    RETURNING ${ROW}, p.quality, p.message_ids`);
  const [row] = rows;
  if (!row) return null;
  return {
    best: JSON.parse(row.report) as BestReport | null,
    quality: row.quality,
    images: row.images,
    messageIds: row.message_ids,
    believedAt: row.believed_at === null ? null : new Date(row.believed_at).getTime(),
    receivedAt: new Date(row.received_at).getTime(),
    eventId: row.event_id,
  };
}

/** Adds what was held under another id to a passage, which must exist. A passage that is an event already is not changed. */
export async function absorb(
  tx: Executor,
  { connectionId, sensorId, passage }: PassageKey,
  joined: JoinedPassage,
): Promise<void> {
  const { best, quality, images, messageIds, believedAt, receivedAt, eventId } = joined;
  await tx.execute(sql`
    UPDATE device_passages SET
      report = CASE WHEN ${best !== null}::boolean AND ${quality}::float8 > quality THEN ${JSON.stringify(best)} ELSE report END,
      quality = CASE WHEN ${best !== null}::boolean THEN greatest(quality, ${quality}::float8) ELSE quality END,
      images = images || ARRAY(SELECT unnest(${sql.param(images)}::text[]) EXCEPT SELECT unnest(images)),
      message_ids = message_ids || ARRAY(
        SELECT unnest(${sql.param(messageIds)}::uuid[]) EXCEPT SELECT unnest(message_ids)),
      believed_at = least(believed_at, to_timestamp(${believedAt === null ? null : believedAt / 1_000}::float8)),
      received_at = least(received_at, to_timestamp(${receivedAt / 1_000}::float8)),
      event_id = coalesce(event_id, ${eventId}::uuid),
      closed_at = CASE WHEN ${eventId !== null}::boolean THEN coalesce(closed_at, now()) ELSE closed_at END,
      due_at = CASE WHEN ${eventId !== null}::boolean THEN NULL ELSE due_at END
    WHERE connection_id = ${connectionId}::uuid AND sensor_id = ${sensorId}::uuid AND passage = ${passage}
      AND event_id IS NULL`);
}

/** Completes passages that are due, and claims those that another process left unfinished. */
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

/** Whether any passage is to be stored, now or later. */
export async function hasDuePassages(db: Executor): Promise<boolean> {
  const { rows } = await db.execute<{ found: boolean }>(
    sql`SELECT EXISTS (SELECT FROM device_passages WHERE due_at IS NOT NULL) AS found`,
  );
  return rows[0]?.found === true;
}

/** Records the event of a passage and what was left out of it, or why there is none. @returns its messages */
export async function finishPassage(
  tx: Executor,
  { connectionId, sensorId, passage }: PassageKey,
  { eventId, reason }: { readonly eventId: string | null; readonly reason: string | null },
): Promise<string[]> {
  const { rows } = await tx.execute<{ message_ids: string[] }>(sql`
    UPDATE device_passages SET event_id = ${eventId}::uuid, reason = ${reason}, due_at = NULL
    WHERE connection_id = ${connectionId}::uuid AND sensor_id = ${sensorId}::uuid AND passage = ${passage}
    RETURNING message_ids`);
  return rows[0]?.message_ids ?? [];
}

/**
 * Adds a message to the passage of which its own passage became a part, so that the message gets the event of the whole.
 * @returns the event of the passage; null if it has none yet
 */
export async function addToWhole(
  db: Executor,
  { connectionId, sensorId }: Omit<PassageKey, 'passage'>,
  { whole, messageId }: { readonly whole: string; readonly messageId: string },
): Promise<string | null> {
  const { rows } = await db.execute<{ event_id: string | null }>(sql`
    UPDATE device_passages SET message_ids = CASE WHEN ${messageId}::uuid = ANY (message_ids) THEN message_ids
      ELSE message_ids || ${messageId}::uuid END
    WHERE connection_id = ${connectionId}::uuid AND sensor_id = ${sensorId}::uuid AND passage = ${whole}
    RETURNING event_id`);
  return rows[0]?.event_id ?? null;
}

/** The event of a passage in which a message was held, or why there is none. */
export interface Finished {
  readonly messageId: string;
  readonly eventId: string | null;
  readonly reason: string | null;
}

/** The results of those of the passages that are finished, or became a part of one that is finished. */
export async function findFinished(
  db: Executor,
  held: readonly (PassageKey & { readonly messageId: string })[],
): Promise<Finished[]> {
  const given = held.map(({ connectionId, sensorId, passage, messageId }) => ({
    connection_id: connectionId,
    sensor_id: sensorId,
    passage,
    message_id: messageId,
  }));
  const { rows } = await db.execute<{
    message_id: string;
    event_id: string | null;
    reason: string | null;
  }>(sql`
    SELECT given.message_id, whole.event_id, whole.reason
    FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
      AS given (connection_id uuid, sensor_id uuid, passage text, message_id uuid)
    JOIN device_passages AS part USING (connection_id, sensor_id, passage)
    JOIN device_passages AS whole ON whole.connection_id = part.connection_id AND whole.sensor_id = part.sensor_id
      AND whole.passage = coalesce(part.joined_to, part.passage)
    WHERE whole.closed_at IS NOT NULL AND whole.due_at IS NULL`);
  return rows.map((row) => ({ messageId: row.message_id, eventId: row.event_id, reason: row.reason }));
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
