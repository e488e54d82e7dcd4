import { imageUrl } from '@gantry/device-formats/image';
import { sql } from 'drizzle-orm';
import { type Column, double, namesOf, rowsOf, text, uuid } from '../platform/database/arrays.ts';
import type { Database } from '../platform/database/pool.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { FileType, ReceivedFile } from './read-image.ts';
import type { Place } from './segments.ts';

/** A stored image: the properties with which it is served, and where its bytes are. */
export interface StoredImage {
  readonly sha256: string;
  readonly mediaType: FileType;
  readonly bytes: number;
  /** The name of its segment; null when it has a file or an object of its own. */
  readonly segment: string | null;
  /** Where its bytes begin in the segment. */
  readonly position: number | null;
}

/** An image whose bytes are durable, and where they are: null for a file or an object of its own. */
export interface DurableImage extends Omit<ReceivedFile, 'bytes'> {
  readonly bytes: number;
  readonly place: Place | null;
}

const imageColumns: readonly Column<DurableImage>[] = [
  { ...text<DurableImage>('sha256', ({ sha256 }) => sha256), as: `decode(sha256, 'hex')` },
  text('media_type', ({ mediaType }) => mediaType),
  double('width', ({ width }) => width, 'width::integer'),
  double('height', ({ height }) => height, 'height::integer'),
  double('bytes', ({ bytes }) => bytes, 'bytes::integer'),
  double('segment', ({ place }) => place?.segment ?? null, 'segment::integer'),
  double('position', ({ place }) => place?.position ?? null, 'position::integer'),
];

/** The number of parameters that `recordingImages` takes. */
export const IMAGE_PARAMETERS = imageColumns.length;

/** The values of the parameters that `recordingImages` takes. */
export function imageValues(images: readonly DurableImage[]): Buffer[] {
  return imageColumns.map(({ encode }) => encode(images));
}

/**
 * Common table expressions that record durable images. Two processes may store the same image at the same time: they lock
 * the rows in one order, and the bytes of the second one count as dead.
 * @param first the number of the first parameter
 */
export function recordingImages(first: number): string {
  const parameters = imageColumns.map((_, index) => `$${first + index}`);
  return `given_images AS MATERIALIZED (
      SELECT DISTINCT ON (sha256) * FROM (${rowsOf(imageColumns, parameters)}) AS given (${namesOf(imageColumns)})
      ORDER BY sha256
    ), recorded_images AS (
      INSERT INTO images AS known (${namesOf(imageColumns)}, stored_at) SELECT *, now() FROM given_images
      ON CONFLICT (sha256) DO UPDATE SET touched_at = now(), stored_at = coalesce(known.stored_at, now()),
        segment = CASE WHEN known.stored_at IS NULL THEN excluded.segment ELSE known.segment END,
        position = CASE WHEN known.stored_at IS NULL THEN excluded.position ELSE known.position END
      RETURNING sha256, segment, position
    ), dead_images AS (
      UPDATE image_segments SET dead_bytes = dead_bytes + dead.bytes, dead_since = coalesce(dead_since, now())
      FROM (
        SELECT given.segment, sum(given.bytes) AS bytes FROM given_images AS given JOIN recorded_images AS known USING (sha256)
        WHERE (given.segment, given.position) IS DISTINCT FROM (known.segment, known.position)
        GROUP BY given.segment
      ) AS dead WHERE id = dead.segment
    )`;
}

/** A reference of something to an image. */
interface ImageLink {
  readonly of: string;
  readonly sha256: string;
}

const linkColumns: readonly Column<ImageLink>[] = [
  uuid('of', ({ of }) => of),
  { ...text<ImageLink>('sha256', ({ sha256 }) => sha256), as: `decode(sha256, 'hex')` },
];

/** The images of one event, and those of them that are durable and not recorded yet. */
export interface NewImagesOfEvent extends ImagesOfEvent {
  readonly durable: readonly DurableImage[];
}

interface EventLink extends ImageLink {
  readonly eventType: string;
}

const eventLinkColumns: readonly Column<EventLink>[] = [
  ...linkColumns,
  text('event_type', ({ eventType }) => eventType),
];

const EVENT_LINKS = rowsOf(
  eventLinkColumns,
  eventLinkColumns.map((_, index) => `$${index + 1}`),
);

const RECORD_OF_EVENTS = `
  WITH ${recordingImages(eventLinkColumns.length + 1)}
  INSERT INTO event_images (event_id, sha256, event_type)
  SELECT * FROM (${EVENT_LINKS}) AS links ORDER BY 1, 2
  ON CONFLICT (event_id, sha256) DO UPDATE SET at = now()`;

/** The references of events to images, each once. */
function linksOf(events: readonly ImagesOfEvent[]): EventLink[] {
  const links = events.flatMap(({ eventId, eventType, hashes }) =>
    hashes.map((sha256) => [`${eventId} ${sha256}`, { of: eventId, sha256, eventType }] as const),
  );
  return [...new Map(links).values()];
}

/**
 * Records durable images and the events they belong to, which may be stored later. They are kept for an hour even if an
 * event is not. Sending them again restarts the hour, even for images that are being collected.
 */
export async function recordImagesOfEvents(db: Database, events: readonly NewImagesOfEvent[]): Promise<void> {
  const links = linksOf(events);
  await db.$client.query({
    name: 'record-images-of-events',
    text: RECORD_OF_EVENTS,
    values: [
      ...eventLinkColumns.map(({ encode }) => encode(links)),
      ...imageValues(events.flatMap(({ durable }) => durable)),
    ],
  });
}

const RECORD = `WITH ${recordingImages(1)} SELECT`;

/** Records durable images to which something will refer within the hour, such as a note. */
export async function recordImages(db: Database, images: readonly DurableImage[]): Promise<void> {
  await db.$client.query({ name: 'record-images', text: RECORD, values: imageValues(images) });
}

/** The images of a message of a device. */
export interface ImagesOfMessage {
  readonly messageId: string;
  readonly hashes: readonly string[];
  /** Those of them that are durable and not recorded yet. */
  readonly durable: readonly DurableImage[];
}

/** The number of parameters that `recordingImagesOfMessages` takes. */
export const MESSAGE_IMAGE_PARAMETERS = linkColumns.length + IMAGE_PARAMETERS;

/** The values of the parameters that `recordingImagesOfMessages` takes. */
export function messageImageValues(messages: readonly ImagesOfMessage[]): Buffer[] {
  const links = messages.flatMap(({ messageId, hashes }) =>
    hashes.map((sha256) => ({ of: messageId, sha256 })),
  );
  return [
    ...linkColumns.map(({ encode }) => encode(links)),
    ...imageValues(messages.flatMap(({ durable }) => durable)),
  ];
}

/** Common table expressions that record the images of messages. @param first the number of the first parameter */
export function recordingImagesOfMessages(first: number): string {
  const parameters = linkColumns.map((_, index) => `$${first + index}`);
  return `${recordingImages(first + linkColumns.length)}, referred_images AS (
      INSERT INTO device_message_images (message_id, sha256)
      SELECT * FROM (${rowsOf(linkColumns, parameters)} ORDER BY 1, 2) AS links ON CONFLICT DO NOTHING
    )`;
}

/**
 * Records images whose objects are about to be stored, so that they are not removed meanwhile.
 * @returns the hashes of those whose object must be stored
 */
export async function announceImages(
  db: Executor,
  images: readonly ReceivedFile[],
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
    ), noted AS (
      INSERT INTO images AS known (sha256, media_type, width, height, bytes) SELECT * FROM given ORDER BY sha256
      ON CONFLICT (sha256) DO UPDATE SET touched_at = now()
      RETURNING sha256, stored_at
    )
    SELECT encode(sha256, 'hex') AS sha256 FROM noted WHERE stored_at IS NULL`);
  return new Set(lacking.map(({ sha256 }) => sha256));
}

/** An image that was received so recently is not touched again, because nobody removes it within the hour. */
const FRESH = `interval '5 minutes'`;

/**
 * Common table expressions that keep stored images for another hour, those that are in the query. A camera that sends the
 * same image all the time would otherwise have its messages wait for one another, so most of them change nothing.
 */
const KEEPING = (hashes: string) => `known_images AS MATERIALIZED (
      SELECT sha256, touched_at > now() - ${FRESH} AS fresh FROM images
      WHERE sha256 IN (${hashes}) AND stored_at IS NOT NULL
    ), touched_images AS (
      UPDATE images SET touched_at = now() WHERE sha256 IN (
        SELECT sha256 FROM images
        WHERE sha256 IN (SELECT sha256 FROM known_images WHERE NOT fresh) AND stored_at IS NOT NULL
        ORDER BY sha256 FOR NO KEY UPDATE
      )
      RETURNING sha256
    ), kept_images AS (
      SELECT sha256 FROM known_images WHERE fresh UNION ALL SELECT sha256 FROM touched_images
    )`;

const KEEP = `
  WITH ${KEEPING(`SELECT decode(hex, 'hex') FROM unnest($1::text[]) AS hex`)}
  SELECT encode(sha256, 'hex') AS sha256 FROM kept_images`;

/** Keeps stored images for another hour. @returns the hashes of those that are stored */
export async function keepStoredImages(
  db: Database,
  hashes: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.$client.query<{ sha256: string }>({
    name: 'keep-stored-images',
    text: KEEP,
    values: [[...hashes]],
  });
  return new Set(rows.map(({ sha256 }) => sha256));
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
export async function referToImages(db: Database, events: readonly ImagesOfEvent[]): Promise<void> {
  const links = linksOf(events);
  await db.$client.query({
    name: 'refer-to-images',
    text: REFER,
    values: eventLinkColumns.map(({ encode }) => encode(links)),
  });
}

const REFER = `
  WITH links (event_id, sha256, event_type) AS MATERIALIZED (${EVENT_LINKS}), ${KEEPING('SELECT sha256 FROM links')}
  INSERT INTO event_images (event_id, sha256, event_type)
  SELECT * FROM links WHERE sha256 IN (SELECT sha256 FROM kept_images) ORDER BY 1, 2
  ON CONFLICT (event_id, sha256) DO UPDATE SET at = now()`;

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

/** An image that is stored; null when there is none. */
export async function findImage(db: Executor, sha256: string): Promise<StoredImage | null> {
  const { rows } = await db.execute<StoredImage & Record<string, unknown>>(sql`
    SELECT ${STORED} FROM images LEFT JOIN image_segments ON id = segment
    WHERE sha256 = ${digest(sha256)} AND stored_at IS NOT NULL`);
  return rows[0] ?? null;
}

/** The columns of `StoredImage`. */
export const STORED = sql.raw(
  `encode(sha256, 'hex') AS sha256, media_type AS "mediaType", images.bytes, name AS segment, position`,
);

/** What refers to an image. */
export interface ImageOwners extends Record<string, unknown> {
  /** An event, or a message of a device. */
  readonly device: boolean;
  /** A note of an incident, or a fault of a sensor. */
  readonly note: boolean;
  readonly certificate: boolean;
  readonly case: boolean;
}

/** What refers to an image; nothing does when its event was deleted, and the file is yet to be removed. */
export async function findOwners(db: Executor, sha256: string): Promise<ImageOwners> {
  const refers = (table: string) =>
    sql`EXISTS (SELECT FROM ${sql.raw(table)} WHERE sha256 = ${digest(sha256)})`;
  const { rows } = await db.execute<ImageOwners>(sql`
    SELECT ${refers('event_images')} OR ${refers('device_message_images')} AS device, ${refers('incident_images')} OR ${refers('fault_images')} AS note,
      ${refers('certificates')} AS certificate, ${refers('case_items')} AS "case"`);
  return rows[0] ?? { device: false, note: false, certificate: false, case: false };
}

/** The only event with an image; null if no event has it, or several. */
export async function findEventOfImage(db: Executor, sha256: string): Promise<string | null> {
  // Plan: event_images_by_image.
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT event_id AS id FROM event_images WHERE sha256 = ${digest(sha256)} LIMIT 2`);
  return rows.length === 1 ? (rows[0]?.id ?? null) : null;
}

function digest(sha256: string) {
  return sql`decode(${sha256}, 'hex')`;
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
export async function listDamaged(db: Executor, limit: number): Promise<StoredImage[]> {
  const { rows } = await db.execute<StoredImage & Record<string, unknown>>(sql`
    SELECT ${STORED} FROM damaged_images JOIN images USING (sha256) LEFT JOIN image_segments ON id = segment
    ORDER BY found_at, sha256 LIMIT ${limit}`);
  return rows;
}

/** Stored images from a hash on, which is a random sample if the hash is random. */
export async function sampleImages(db: Executor, from: string, limit: number): Promise<StoredImage[]> {
  // Plan: images_pkey.
  const { rows } = await db.execute<StoredImage & Record<string, unknown>>(sql`
    SELECT ${STORED} FROM images LEFT JOIN image_segments ON id = segment
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
