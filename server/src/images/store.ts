import { type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';
import type { MediaType } from './pixel-size.ts';
import type { Picture } from './read-image.ts';

/** The properties with which an image is served. */
export interface StoredImage {
  readonly mediaType: MediaType;
  readonly bytes: number;
}

/**
 * The images of one event. They are locked in a common order, so that two events with the same images do not
 * deadlock.
 */
export interface PicturesOfEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly pictures: readonly Picture[];
}

/**
 * Records images and the event they belong to, which may be stored later. They are kept for an hour even if it is
 * not. Sending them again restarts the hour, even for images that are being collected.
 * @returns the hashes of the images whose file must be stored
 */
export function noteImagesOfEvent(
  db: Executor,
  { eventId, eventType, pictures }: PicturesOfEvent,
): Promise<ReadonlySet<string>> {
  return note(
    db,
    pictures,
    sql`, referred AS (
      INSERT INTO event_images (event_id, sha256, event_type)
      SELECT ${eventId}::uuid, sha256, ${eventType} FROM given ORDER BY sha256
      ON CONFLICT (event_id, sha256) DO UPDATE SET at = now()
    )`,
  );
}

/** The images of a message of a device. */
export interface PicturesOfMessage {
  readonly messageId: string;
  readonly pictures: readonly Picture[];
}

/** The same for a message of a device. */
export function noteImagesOfMessage(
  db: Executor,
  { messageId, pictures }: PicturesOfMessage,
): Promise<ReadonlySet<string>> {
  return note(
    db,
    pictures,
    sql`, referred AS (
      INSERT INTO device_message_images (message_id, sha256)
      SELECT ${messageId}::uuid, sha256 FROM given ORDER BY sha256
      ON CONFLICT DO NOTHING
    )`,
  );
}

/**
 * Records images that something else will refer to within the hour, such as a note.
 * @returns the hashes of the images whose file must be stored
 */
export function noteImages(db: Executor, pictures: readonly Picture[]): Promise<ReadonlySet<string>> {
  return note(db, pictures, sql``);
}

async function note(db: Executor, pictures: readonly Picture[], referred: SQL): Promise<ReadonlySet<string>> {
  const rows = [...new Map(pictures.map((picture) => [picture.sha256, picture])).values()];
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
      SELECT * FROM given ORDER BY sha256
      ON CONFLICT (sha256) DO UPDATE SET touched_at = now()
      RETURNING sha256, stored_at
    )
    SELECT encode(sha256, 'hex') AS sha256 FROM noted WHERE stored_at IS NULL`);
  return new Set(lacking.map(({ sha256 }) => sha256));
}

/** Refers from an event, which may be stored later, to those of the images that are known. */
export async function referToImages(
  db: Executor,
  event: { readonly eventId: string; readonly eventType: string },
  hashes: readonly string[],
): Promise<void> {
  await db.execute(sql`
    INSERT INTO event_images (event_id, sha256, event_type)
    SELECT ${event.eventId}::uuid, sha256, ${event.eventType} FROM images
    WHERE sha256 IN (SELECT decode(hex, 'hex') FROM unnest(${sql.param(hashes)}::text[]) AS hex)
    ON CONFLICT (event_id, sha256) DO NOTHING`);
}

/** Records that the file of an image is stored. */
export async function noteImageStored(db: Executor, sha256: string): Promise<void> {
  await db.execute(sql`UPDATE images SET stored_at = now() WHERE sha256 = ${digest(sha256)}`);
}

/** An image whose file is stored; null when there is none. */
export async function findImage(db: Executor, sha256: string): Promise<StoredImage | null> {
  const { rows } = await db.execute<{ mediaType: MediaType; bytes: number }>(sql`
    SELECT media_type AS "mediaType", bytes FROM images WHERE sha256 = ${digest(sha256)} AND stored_at IS NOT NULL`);
  return rows[0] ?? null;
}

/** Whether an event or a message of a device refers to the image. */
export async function isImageOfDevice(db: Executor, sha256: string): Promise<boolean> {
  const { rows } = await db.execute<{ found: boolean }>(sql`
    SELECT EXISTS (SELECT FROM event_images WHERE sha256 = ${digest(sha256)})
      OR EXISTS (SELECT FROM device_message_images WHERE sha256 = ${digest(sha256)}) AS found`);
  return rows[0]?.found ?? false;
}

function digest(sha256: string) {
  return sql`decode(${sha256}, 'hex')`;
}
