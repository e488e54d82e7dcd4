import { sql } from 'drizzle-orm';
import type { Database } from '../platform/database/pool.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { HEADER_BYTES, OPEN_MS, type Place, type SegmentRegister } from './segments.ts';
import { STORED, type StoredImage } from './store.ts';

/** Records segments in the database. */
export function segmentRegister(db: Database): SegmentRegister {
  return {
    async add(name) {
      const { rows } = await db.execute<{ id: number }>(
        sql`INSERT INTO image_segments (name) VALUES (${name}) RETURNING id`,
      );
      const [added] = rows;
      if (!added) throw new Error(`The segment ${name} was not recorded`);
      return added.id;
    },
    async close(id, bytes) {
      await db.execute(sql`UPDATE image_segments SET bytes = ${bytes} WHERE id = ${id}`);
    },
  };
}

/** A segment of the database. */
export interface KnownSegment {
  readonly id: number;
  readonly name: string;
}

/** Segments that no process closed, and to which none appends any more. */
export async function listAbandonedSegments(db: Executor): Promise<KnownSegment[]> {
  const { rows } = await db.execute<KnownSegment & Record<string, unknown>>(sql`
    SELECT id, name FROM image_segments
    WHERE bytes IS NULL AND opened_at < now() - ${2 * OPEN_MS} * interval '1 millisecond' ORDER BY id`);
  return rows;
}

/** Closes an abandoned segment, whose end may contain images that were never recorded. @param bytes the size of its file */
export async function closeAbandonedSegment(db: Executor, id: number, bytes: number): Promise<void> {
  await db.execute(sql`
    UPDATE image_segments SET bytes = ${bytes}, dead_since = coalesce(dead_since, now()), dead_bytes = greatest(0, ${bytes} - (
      SELECT coalesce(sum(images.bytes + ${HEADER_BYTES}), 0) FROM images WHERE segment = ${id}))
    WHERE id = ${id} AND bytes IS NULL`);
}

/** A segment of which at least a quarter is dead is rewritten, and any with something dead after this time. */
const DEAD_AT_MOST = sql.raw(`interval '7 days'`);

/** Closed segments to rewrite, month by month. */
export async function listSegmentsToRewrite(db: Executor): Promise<KnownSegment[]> {
  const { rows } = await db.execute<KnownSegment & Record<string, unknown>>(sql`
    SELECT id, name FROM image_segments
    WHERE bytes IS NOT NULL AND (4 * dead_bytes >= bytes OR (dead_bytes > 0 AND dead_since < now() - ${DEAD_AT_MOST}))
    ORDER BY name`);
  return rows;
}

/** The images of a segment behind a position, in the order of their positions. */
export async function pageOfSegment(
  db: Executor,
  id: number,
  after: number,
  limit: number,
): Promise<StoredImage[]> {
  const { rows } = await db.execute<StoredImage & Record<string, unknown>>(sql`
    SELECT ${STORED} FROM images JOIN image_segments ON id = segment
    WHERE segment = ${id} AND position > ${after} AND stored_at IS NOT NULL ORDER BY position LIMIT ${limit}`);
  return rows;
}

/** An image that was copied to another place. */
export interface MovedImage {
  readonly sha256: string;
  readonly bytes: number;
  readonly to: Place;
}

/**
 * Records where images are that were copied. Those that were removed or moved meanwhile are dead in their new segment.
 * @param from the id of the segment where they were; null for files of their own
 * @returns the hashes of those that were moved
 */
export async function moveImages(
  tx: Executor,
  from: number | null,
  images: readonly MovedImage[],
): Promise<ReadonlySet<string>> {
  const given = images.map(({ sha256, bytes, to }) => ({ sha256, bytes, ...to }));
  const { rows } = await tx.execute<{ sha256: string }>(sql`
    WITH given AS (
      SELECT decode(sha256, 'hex') AS sha256, bytes, segment, position
      FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
        AS given (sha256 text, bytes bigint, segment int, position int)
    ), locked AS (
      SELECT given.* FROM given JOIN images AS image USING (sha256)
      WHERE image.segment IS NOT DISTINCT FROM ${from}::int AND image.stored_at IS NOT NULL
      ORDER BY sha256 FOR NO KEY UPDATE OF image
    ), moved AS (
      UPDATE images AS image SET segment = locked.segment, position = locked.position
      FROM locked WHERE image.sha256 = locked.sha256
      RETURNING image.sha256
    ), dead AS (
      UPDATE image_segments SET dead_bytes = dead_bytes + given.bytes, dead_since = coalesce(dead_since, now())
      FROM (
        SELECT segment, sum(bytes) AS bytes FROM given WHERE sha256 NOT IN (SELECT sha256 FROM moved) GROUP BY segment
      ) AS given WHERE id = given.segment
    )
    SELECT encode(sha256, 'hex') AS sha256 FROM moved`);
  return new Set(rows.map(({ sha256 }) => sha256));
}

/**
 * Removes a segment without images. Nothing can be stored in it until the transaction ends.
 * @param removeFile removes its file
 */
export async function removeSegment(
  tx: Transaction,
  id: number,
  removeFile: () => Promise<void>,
): Promise<void> {
  const { rows } = await tx.execute(sql`
    SELECT FROM image_segments WHERE id = ${id} AND bytes IS NOT NULL FOR UPDATE`);
  if (rows.length === 0) return;
  const { rows: used } = await tx.execute(sql`SELECT FROM images WHERE segment = ${id} LIMIT 1`);
  if (used.length > 0) return;
  await removeFile();
  await tx.execute(sql`DELETE FROM image_segments WHERE id = ${id}`);
}

/** The months in which images were last received, by their hashes, `YYYY-MM` in UTC; of files of their own only. */
export async function monthsOfFiles(
  db: Executor,
  hashes: readonly string[],
): Promise<(StoredImage & { readonly month: string })[]> {
  const { rows } = await db.execute<StoredImage & { month: string } & Record<string, unknown>>(sql`
    SELECT ${STORED}, to_char(touched_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month
    FROM images LEFT JOIN image_segments ON id = segment
    WHERE sha256 IN (SELECT decode(hex, 'hex') FROM unnest(${sql.param(hashes)}::text[]) AS hex) AND stored_at IS NOT NULL`);
  return rows;
}
