import { sql } from 'drizzle-orm';
import { firstIdAt } from '../events/id.ts';
import type { Executor } from '../platform/database/transaction.ts';

/** Younger images may belong to an event or a note that is about to be stored: a request takes at most 30 s. */
const YOUNG = sql.raw(`interval '1 hour'`);

/**
 * The next events with images, in the order of their ids: those from before a time (Unix milliseconds) and after an id.
 */
export async function pageOfEventsWithImages(
  db: Executor,
  until: number,
  after: string | null,
  limit: number,
): Promise<string[]> {
  // Plan: the primary key of event_images.
  const { rows } = await db.execute<{ event_id: string }>(sql`
    SELECT DISTINCT event_id FROM event_images
    WHERE event_id < ${firstIdAt(until)}::uuid AND ${after === null ? sql`true` : sql`event_id > ${after}::uuid`}
    ORDER BY event_id LIMIT ${limit}`);
  return rows.map((row) => row.event_id);
}

/**
 * The next events after an id whose images were received at least an hour ago and, unless `since` is null, not before
 * that time.
 */
export async function listEventsWithImagesSince(
  db: Executor,
  since: Date | null,
  after: string | null,
  limit: number,
): Promise<string[]> {
  // Plan: event_images_by_time.
  const { rows } = await db.execute<{ event_id: string }>(sql`
    SELECT DISTINCT event_id FROM event_images
    WHERE at < now() - ${YOUNG} AND ${since === null ? sql`true` : sql`at >= ${since.toISOString()}::timestamptz`}
      AND ${after === null ? sql`true` : sql`event_id > ${after}::uuid`}
    ORDER BY event_id LIMIT ${limit}`);
  return rows.map((row) => row.event_id);
}

/** Removes the references from these events to images. */
export async function removeReferences(tx: Executor, eventIds: readonly string[]): Promise<void> {
  await tx.execute(sql`DELETE FROM event_images WHERE event_id = ANY (${sql.param(eventIds)}::uuid[])`);
}

/**
 * The same for those of the events that do not exist, unless the references were recorded within the last hour: then
 * the event may be about to be stored.
 */
export async function removeDanglingReferences(db: Executor, eventIds: readonly string[]): Promise<void> {
  // Two statements, because events may be on other nodes.
  const { rows } = await db.execute<{ id: string }>(
    sql`SELECT id FROM events WHERE id = ANY (${sql.param(eventIds)}::uuid[])`,
  );
  const there = new Set(rows.map(({ id }) => id));
  const gone = eventIds.filter((id) => !there.has(id));
  if (gone.length === 0) return;
  await db.execute(sql`
    DELETE FROM event_images WHERE event_id = ANY (${sql.param(gone)}::uuid[]) AND at < now() - ${YOUNG}`);
}

/** No note, fault, message, certificate or case refers to the image. */
const OF_NOTHING_ELSE = sql`
  NOT EXISTS (SELECT FROM incident_images WHERE incident_images.sha256 = images.sha256)
  AND NOT EXISTS (SELECT FROM fault_images WHERE fault_images.sha256 = images.sha256)
  AND NOT EXISTS (SELECT FROM device_message_images WHERE device_message_images.sha256 = images.sha256)
  AND NOT EXISTS (SELECT FROM certificates WHERE certificates.sha256 = images.sha256)
  AND NOT EXISTS (SELECT FROM case_items WHERE case_items.sha256 = images.sha256)`;
const OF_NO_EVENT = sql`NOT EXISTS (SELECT FROM event_images WHERE event_images.sha256 = images.sha256)`;

/** A condition on rows of images that are old enough for removal and to which nothing refers but, perhaps, events. */
export const MAY_BE_ORPHAN = sql`touched_at < now() - ${YOUNG} AND ${OF_NOTHING_ELSE}`;

const IS_ORPHAN = sql`${MAY_BE_ORPHAN} AND ${OF_NO_EVENT}`;

/** An image to which nothing refers. */
export interface Orphan {
  readonly sha256: string;
  readonly isInSegment: boolean;
}

/**
 * Reads a page of images in the order of their hashes.
 * @returns the last hash of the page, and its orphans
 */
export async function pageOfImages(
  db: Executor,
  after: string | null,
  limit: number,
): Promise<{ readonly last: string | null; readonly orphans: readonly Orphan[] }> {
  const { rows } = await db.execute<Orphan & { orphan: boolean } & Record<string, unknown>>(sql`
    SELECT encode(sha256, 'hex') AS sha256, segment IS NOT NULL AS "isInSegment", ${IS_ORPHAN} AS orphan FROM (
      SELECT sha256, segment, touched_at FROM images
      WHERE ${after === null ? sql`true` : sql`sha256 > decode(${after}, 'hex')`} ORDER BY sha256 LIMIT ${limit}
    ) AS images ORDER BY images.sha256`);
  return { last: rows.at(-1)?.sha256 ?? null, orphans: rows.filter(({ orphan }) => orphan) };
}

/** Marks the files of orphans as possibly missing, so that a new upload of such an image stores its file again. */
export async function markAsUnstored(db: Executor, hashes: readonly string[]): Promise<void> {
  await db.execute(sql`UPDATE images SET stored_at = NULL WHERE ${among(hashes)} AND ${IS_ORPHAN}`);
}

/** An image that is about to be removed. */
export interface OrphanImage extends Record<string, unknown> {
  readonly sha256: string;
  readonly bytes: number;
  readonly isInSegment: boolean;
  /** The month in which it was last received, `YYYY-MM` in UTC. */
  readonly month: string;
}

/**
 * Removes those of the images that are still orphans; those with an object of their own must be marked as unstored. Until
 * the transaction ends, they cannot be stored again, so their objects can be removed meanwhile.
 */
export async function removeOrphans(tx: Executor, hashes: readonly string[]): Promise<OrphanImage[]> {
  const { rows } = await tx.execute<OrphanImage>(sql`
    WITH gone AS (
      DELETE FROM images WHERE ${among(hashes)} AND (stored_at IS NULL OR segment IS NOT NULL) AND ${IS_ORPHAN}
      RETURNING sha256, bytes, segment, touched_at
    ), dead AS (
      UPDATE image_segments SET dead_bytes = dead_bytes + gone.bytes, dead_since = coalesce(dead_since, now())
      FROM (SELECT segment, sum(bytes) AS bytes FROM gone GROUP BY segment) AS gone WHERE id = gone.segment
    )
    SELECT encode(sha256, 'hex') AS sha256, bytes, segment IS NOT NULL AS "isInSegment",
      to_char(touched_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month
    FROM gone`);
  return rows;
}

function among(hashes: readonly string[]) {
  return sql`sha256 IN (SELECT decode(hex, 'hex') FROM unnest(${sql.param(hashes)}::text[]) AS hex)`;
}

/** An image that was removed, and where its bytes still are: null for a file or an object of its own. */
export interface ReleasedImage extends Record<string, unknown> {
  readonly sha256: string;
  readonly bytes: number;
  /** The name of the segment. */
  readonly segment: string | null;
  readonly position: number | null;
}

/**
 * Removes those of the images to which nothing refers any more, however young. The bytes are to be removed before the
 * transaction ends, which until then keeps them from being stored again.
 */
export async function removeReleased(tx: Executor, hashes: readonly string[]): Promise<ReleasedImage[]> {
  const { rows } = await tx.execute<ReleasedImage>(sql`
    WITH gone AS (
      DELETE FROM images WHERE ${among(hashes)} AND ${OF_NOTHING_ELSE} AND ${OF_NO_EVENT}
      RETURNING sha256, bytes, segment, position
    ), dead AS (
      UPDATE image_segments SET dead_bytes = dead_bytes + gone.bytes, dead_since = coalesce(dead_since, now())
      FROM (SELECT segment, sum(bytes) AS bytes FROM gone GROUP BY segment) AS gone WHERE id = gone.segment
    )
    SELECT encode(sha256, 'hex') AS sha256, gone.bytes, name AS segment, position
    FROM gone LEFT JOIN image_segments ON id = segment`);
  return rows;
}
