import { imageUrl, type MediaType, type ReceivedImage } from '@gantry/device-formats/image';
import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../platform/database/pool.ts';
import type { Executor } from '../platform/database/transaction.ts';

/** The properties with which an image is served. */
export interface StoredImage {
  readonly mediaType: MediaType;
  readonly bytes: number;
}

/**
 * The images of one event. They are locked in a common order, so that two events with the same images do not
 * deadlock.
 */
export interface NewImagesOfEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly images: readonly ReceivedImage[];
}

/**
 * Records images and the event they belong to, which may be stored later. They are kept for an hour even if it is
 * not. Sending them again restarts the hour, even for images that are being collected.
 * @returns the hashes of the images whose file must be stored
 */
export function noteImagesOfEvent(
  db: Executor,
  { eventId, eventType, images }: NewImagesOfEvent,
): Promise<ReadonlySet<string>> {
  return note(
    db,
    images,
    sql`, referred AS (
      INSERT INTO event_images (event_id, sha256, event_type)
      SELECT ${eventId}::uuid, sha256, ${eventType} FROM given ORDER BY sha256
      ON CONFLICT (event_id, sha256) DO UPDATE SET at = now()
    )`,
  );
}

/** The images of a message of a device. */
export interface NewImagesOfMessage {
  readonly messageId: string;
  readonly images: readonly ReceivedImage[];
}

/** The same for messages of devices. @returns the hashes of the images of all messages whose file must be stored */
export function noteImagesOfMessages(
  db: Executor,
  messages: readonly NewImagesOfMessage[],
): Promise<ReadonlySet<string>> {
  const links = messages.flatMap(({ messageId, images }) =>
    images.map(({ sha256 }) => ({ message_id: messageId, sha256 })),
  );
  return note(
    db,
    messages.flatMap(({ images }) => images),
    sql`, referred AS (
      INSERT INTO device_message_images (message_id, sha256)
      SELECT message_id, decode(sha256, 'hex')
      FROM jsonb_to_recordset(${JSON.stringify(links)}::jsonb) AS links (message_id uuid, sha256 text) ORDER BY 1, 2
      ON CONFLICT DO NOTHING
    )`,
  );
}

/**
 * Records images that something else will refer to within the hour, such as a note.
 * @returns the hashes of the images whose file must be stored
 */
export function noteImages(db: Executor, images: readonly ReceivedImage[]): Promise<ReadonlySet<string>> {
  return note(db, images, sql``);
}

/**
 * An image that was received so recently is not touched again, because nobody removes it within the hour: a camera that
 * sends the same image all the time would otherwise have its messages wait for one another.
 */
const FRESH = sql.raw(`interval '5 minutes'`);

async function note(
  db: Executor,
  images: readonly ReceivedImage[],
  referred: SQL,
): Promise<ReadonlySet<string>> {
  const rows = [...new Map(images.map((image) => [image.sha256, image])).values()];
  const { rows: lacking } = await db.execute<{ sha256: string }>(sql`
    WITH given AS (
      SELECT decode(sha256, 'hex') AS sha256, media_type, width, height, bytes
      FROM jsonb_to_recordset(${JSON.stringify(
        rows.map(({ sha256, mediaType, width, height, bytes }) => ({
          sha256,
          media_type: mediaType,
          width,
          height,
          bytes: bytes.length,
        })),
      )}::jsonb) AS given (sha256 text, media_type text, width int, height int, bytes int)
    )${referred}, noted AS (
      INSERT INTO images AS known (sha256, media_type, width, height, bytes)
      SELECT * FROM given WHERE NOT EXISTS (
        SELECT FROM images AS fresh WHERE fresh.sha256 = given.sha256
          AND fresh.stored_at IS NOT NULL AND fresh.touched_at > now() - ${FRESH}
      ) ORDER BY sha256
      ON CONFLICT (sha256) DO UPDATE SET touched_at = now()
      RETURNING sha256, stored_at
    )
    SELECT encode(sha256, 'hex') AS sha256 FROM noted WHERE stored_at IS NULL`);
  return new Set(lacking.map(({ sha256 }) => sha256));
}

/** An event, and hashes of its images. */
export interface ImagesOfEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly hashes: readonly string[];
}

/**
 * Refers from events, which may be stored later, to those of the images that are stored. They are kept for an hour even
 * if the event is not stored.
 */
export async function referToImages(db: Executor, events: readonly ImagesOfEvent[]): Promise<void> {
  const links = events.flatMap(({ eventId, eventType, hashes }) =>
    hashes.map((sha256) => ({ event_id: eventId, event_type: eventType, sha256 })),
  );
  await db.execute(sql`
    WITH given AS (
      SELECT event_id, event_type, decode(sha256, 'hex') AS sha256
      FROM jsonb_to_recordset(${JSON.stringify(links)}::jsonb) AS links (event_id uuid, event_type text, sha256 text)
    ), known AS (
      SELECT sha256, touched_at > now() - ${FRESH} AS fresh FROM images
      WHERE sha256 IN (SELECT sha256 FROM given) AND stored_at IS NOT NULL
    ), touched AS (
      UPDATE images SET touched_at = now() WHERE sha256 IN (
        SELECT sha256 FROM images
        WHERE sha256 IN (SELECT sha256 FROM known WHERE NOT fresh) AND stored_at IS NOT NULL
        ORDER BY sha256 FOR NO KEY UPDATE
      )
      RETURNING sha256
    )
    INSERT INTO event_images (event_id, sha256, event_type)
    SELECT event_id, sha256, min(event_type) FROM given
    WHERE sha256 IN (SELECT sha256 FROM known WHERE fresh UNION ALL SELECT sha256 FROM touched)
    GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (event_id, sha256) DO UPDATE SET at = now()`);
}

/**
 * Removes the references from an event to those of the images that it does not show: they came with other content under
 * the same key, which was refused.
 */
export async function removeRefusedImages(db: Executor, { eventId, hashes }: ImagesOfEvent): Promise<void> {
  if (hashes.length === 0) return;
  // Two statements, because events may be on other nodes.
  const { rows } = await db.execute<{ images: string[] | null }>(
    sql`SELECT images FROM events WHERE id = ${eventId}::uuid`,
  );
  const [event] = rows;
  // It was deleted, and its references went with it; or its node of a cluster has not committed it yet.
  if (!event) return;
  const shown = new Set(event.images ?? []);
  const refused = hashes.filter((sha256) => !shown.has(imageUrl(sha256)));
  if (refused.length === 0) return;
  await db.execute(sql`
    DELETE FROM event_images WHERE event_id = ${eventId}::uuid
      AND sha256 IN (SELECT decode(hex, 'hex') FROM unnest(${sql.param(refused)}::text[]) AS hex)`);
}

/**
 * A statement that records that the files of images are stored. They are locked in one order, so that two processes
 * that store the same images wait for one another.
 * @param hashes the parameter of the statement for an array of them
 */
export function markStored(hashes: string): string {
  return `UPDATE images SET stored_at = now() WHERE sha256 IN (
    SELECT sha256 FROM images WHERE stored_at IS NULL
      AND sha256 IN (SELECT decode(hex, 'hex') FROM unnest(${hashes}::text[]) AS hex)
    ORDER BY sha256 FOR NO KEY UPDATE)`;
}

const MARK_STORED = markStored('$1');

/** Records that the files of images are stored. */
export async function noteImagesStored(db: Database, hashes: readonly string[]): Promise<void> {
  await db.$client.query({ name: 'mark-images-stored', text: MARK_STORED, values: [[...hashes]] });
}

/** An image whose file is stored; null when there is none. */
export async function findImage(db: Executor, sha256: string): Promise<StoredImage | null> {
  const { rows } = await db.execute<{ mediaType: MediaType; bytes: number }>(sql`
    SELECT media_type AS "mediaType", bytes FROM images WHERE sha256 = ${digest(sha256)} AND stored_at IS NOT NULL`);
  return rows[0] ?? null;
}

/**
 * Whether the image is one of a device: an event or a message refers to it, or no note does, because the event was
 * deleted and the file is yet to be removed.
 */
export async function isImageOfDevice(db: Executor, sha256: string): Promise<boolean> {
  const { rows } = await db.execute<{ found: boolean }>(sql`
    SELECT EXISTS (SELECT FROM event_images WHERE sha256 = ${digest(sha256)})
      OR EXISTS (SELECT FROM device_message_images WHERE sha256 = ${digest(sha256)})
      OR NOT EXISTS (SELECT FROM incident_images WHERE sha256 = ${digest(sha256)}) AS found`);
  return rows[0]?.found ?? true;
}

function digest(sha256: string) {
  return sql`decode(${sha256}, 'hex')`;
}

/** An image that should be stored. */
export interface ExpectedImage {
  readonly sha256: string;
  readonly bytes: number;
}

/** Records that the file of an image is missing or damaged. An image that was removed meanwhile is not recorded. */
export async function noteDamaged(db: Executor, sha256: string): Promise<void> {
  await db.execute(sql`
    INSERT INTO damaged_images (sha256) SELECT sha256 FROM images WHERE sha256 = decode(${sha256}, 'hex')
    ON CONFLICT DO NOTHING`);
}

/** Records that the file of an image that was damaged is right again. */
export async function noteRepaired(db: Executor, sha256: string): Promise<void> {
  await db.execute(sql`DELETE FROM damaged_images WHERE sha256 = decode(${sha256}, 'hex')`);
}

/**
 * Begins the verification that is due, unless another process has started it.
 * @param since the time at which it became due, in Unix milliseconds
 */
export async function beginCheck(db: Executor, since: number): Promise<boolean> {
  const { rows } = await db.execute(sql`
    UPDATE image_checks SET started_at = now(), verified = 0, damaged = 0
    WHERE started_at < to_timestamp(${since / 1_000}::float8) RETURNING only_row`);
  return rows.length > 0;
}

/** Adds images that were verified to the verification under way. */
export async function noteChecked(db: Executor, verified: number, damaged: number): Promise<void> {
  await db.execute(sql`
    UPDATE image_checks SET verified = verified + ${verified}, damaged = damaged + ${damaged}`);
}

/** Images that are damaged as far as is known, the first that were found. */
export async function listDamaged(db: Executor, limit: number): Promise<ExpectedImage[]> {
  const { rows } = await db.execute<ExpectedImage & Record<string, unknown>>(sql`
    SELECT encode(sha256, 'hex') AS sha256, bytes FROM damaged_images JOIN images USING (sha256)
    ORDER BY found_at, sha256 LIMIT ${limit}`);
  return rows;
}

/** Stored images from a hash on, which is a random sample if the hash is random. */
export async function sampleImages(db: Executor, from: string, limit: number): Promise<ExpectedImage[]> {
  // Plan: images_pkey.
  const { rows } = await db.execute<ExpectedImage & Record<string, unknown>>(sql`
    SELECT encode(sha256, 'hex') AS sha256, bytes FROM images
    WHERE sha256 >= decode(${from}, 'hex') AND stored_at IS NOT NULL ORDER BY sha256 LIMIT ${limit}`);
  return rows;
}

/** What is known of damaged images, and the last verification. */
interface ImageCondition {
  readonly damaged: number;
  /** The hash of the one that was found first. */
  readonly first: string | null;
  readonly verified: number;
  /** Hours since the last verification began. */
  readonly hours: number;
}

export async function readImageCondition(db: Executor): Promise<ImageCondition> {
  const { rows } = await db.execute<ImageCondition & Record<string, unknown>>(sql`
    SELECT (SELECT count(*) FROM damaged_images) AS damaged,
      (SELECT encode(sha256, 'hex') FROM damaged_images ORDER BY found_at, sha256 LIMIT 1) AS first,
      verified, floor(extract(epoch FROM now() - started_at) / 3600)::float8 AS hours
    FROM image_checks`);
  return rows[0] ?? { damaged: 0, first: null, verified: 0, hours: 0 };
}
