import type { InputIssue } from '@gantry/contract/errors';
import type { ReportedEvent } from '@gantry/contract/events';
import { imageUrl, isTruncated, type ReceivedImage } from '@gantry/device-formats/image';
import type { EventRow } from '../events/event-row.ts';
import { imagesTookTooLong } from '../images/images.ts';
import { hashesOfServed, readImage, requireAddress } from '../images/read-image.ts';
import type { ImageServices } from '../images/start.ts';
import type { Core } from '../platform/context.ts';
import { AppError } from '../platform/error.ts';
import { occursTwice, resolveTime } from '../platform/time.ts';
import type { ReportLag } from '../sensors/sensor-clocks-store.ts';
import type { DeviceContext, KnownSensor } from '../sensors/sensor-keys.ts';
import type { SensorServices } from '../sensors/start.ts';
import { enrich } from './enrich.ts';
import { asFirstReported } from './former-zones.ts';
import type { Companion } from './insert-statements-store.ts';
import type { WriteOutcome } from './queue.ts';
import type { IngestServices } from './start.ts';

type IngestContext = DeviceContext<
  Core & IngestServices & ImageServices & Pick<SensorServices, 'lastSeen' | 'sensorClocks'>
>;

/** A durable event, and whether it was stored before this request. */
export interface Ingested {
  readonly eventId: string;
  readonly duplicate: boolean;
  /** What was stored although it is not whole. */
  readonly warnings: readonly InputIssue[];
}

interface WithImages {
  /** The event with the addresses of its images instead of their data. */
  readonly event: ReportedEvent;
  readonly images: readonly ReceivedImage[];
  /** The hashes of the images to which the event refers by the addresses at which this service serves them. */
  readonly served: readonly string[];
  readonly warnings: readonly InputIssue[];
}

/**
 * Maximum time until the commit of an event with images begins, in milliseconds. With the time limit of the commit,
 * this is less than the time limit of the request.
 */
const IMAGES_MS = 18_000;

/** Maximum time until the commit of an event with a companion begins, in milliseconds. */
const COMPANION_MS = 1_000;

/**
 * Stores an event that passed validation, which is a liveness signal of its sensor. Resolves after the commit.
 * @throws AppError `badRequest` for a timestamp out of bounds; `conflict` when its idempotency key was used for other
 * content at the same time; `unavailable` when it should be sent again, possibly because of its images
 * @param noteLag receives how late the event arrived, unless its sensor sent it before, for the judgement of its clock
 */
export async function ingestEvent(
  { app, sensor }: IngestContext,
  reported: ReportedEvent,
  noteLag: (lag: ReportLag) => void = (lag) => app.sensorClocks.recordReport(sensor.id, lag),
): Promise<Ingested> {
  const { event, images, served, warnings } =
    reported.images.length === 0
      ? { event: reported, images: [], served: [], warnings: [] }
      : takeOutImages(reported);
  const { timezone } = app.settings.current();
  const former = app.settings.formerZones();
  const dated =
    former.length === 0
      ? event
      : await asFirstReported(app.knownEvents, sensor, event, [timezone, ...former]);
  const now = app.clock.now();
  let row: EventRow;
  try {
    row = enrich(dated, sensor, timezone, now, app.eventTimes);
  } catch (refusal) {
    const time = reported.timestamp === undefined ? now : resolveTime(reported.timestamp, timezone);
    if (time > now) noteLag({ arrivedAt: now, lagMs: now - time });
    row = await requireStored(app, sensor, dated, timezone, now, refusal);
  }
  const { id: eventId, eventType } = row;
  if (served.length > 0) await app.images.refer({ eventId, eventType, hashes: served });
  const outcome =
    images.length === 0 ? await app.eventWriter.write(row) : await writeWithImages(app, row, images);
  if (outcome === 'conflict') {
    const hashes = [...images.map(({ sha256 }) => sha256), ...served];
    await app.images.release({ eventId, eventType, hashes });
    throw new AppError(
      'conflict',
      'This idempotencyKey was used for other content at the same timestamp: use a new key',
    );
  }
  app.lastSeen.recordEvent(sensor.id, now, eventType);
  const { timestamp } = reported;
  if (outcome === 'stored' && timestamp !== undefined && !occursTwice(timestamp, timezone)) {
    noteLag({ arrivedAt: now, lagMs: now - row.time });
  }
  return { eventId, duplicate: outcome === 'duplicate', warnings };
}

/**
 * The row of a refused event that was stored before it became too old, so that its device learns that it is stored.
 * @throws the refusal of any other event
 */
async function requireStored(
  { eventTimes, knownEvents }: IngestContext['app'],
  sensor: KnownSensor,
  event: ReportedEvent,
  zone: string,
  now: number,
  refusal: unknown,
): Promise<EventRow> {
  if (eventTimes.oldestDays === null || event.idempotencyKey === undefined) throw refusal;
  // Throws too if it is refused for another reason.
  const row = enrich(event, sensor, zone, now, { ...eventTimes, oldestDays: null });
  if ((await knownEvents.add([row.id])).has(row.id)) return row;
  throw refusal;
}

/** The result of storing an event that was made of a device's message. */
export interface Stored {
  readonly eventId: string;
  readonly outcome: WriteOutcome;
}

/**
 * Stores an event that a gateway made of a message, whose time was checked when the message arrived and whose images
 * are addresses already.
 * @param images the hashes of those of its images that are stored
 * @param companionOf what is stored with the event of the id
 * @throws AppError `badRequest` when the database refuses it; `unavailable` when it should be tried again
 */
export async function storeReported(
  { app, sensor }: Pick<IngestContext, 'app' | 'sensor'>,
  event: ReportedEvent,
  images: readonly string[],
  companionOf?: (eventId: string) => Companion,
): Promise<Stored> {
  const { timezone } = app.settings.current();
  const row = enrich(event, sensor, timezone, app.clock.now(), undefined, byKeyOnly);
  const referring = { eventId: row.id, eventType: row.eventType, hashes: images };
  if (images.length > 0) await app.images.refer(referring);
  const outcome = await app.eventWriter.write(
    row,
    companionOf ? performance.now() + COMPANION_MS : undefined,
    companionOf?.(row.id),
  );
  if (outcome !== 'stored' && images.length > 0) await app.images.release(referring);
  return { eventId: row.id, outcome };
}

/** A report with a key that was used before is a repetition, whatever it contains: its message has another id, too. */
const byKeyOnly = (_: ReportedEvent, id: string): string => id;

/** @throws AppError `badRequest` at `images.<n>` for a text that is neither an address nor an image */
function takeOutImages(event: ReportedEvent): WithImages {
  const read = event.images.map((value, at) => {
    const image = readImage(value, `images.${at}`);
    if (!image) requireAddress(value, `images.${at}`);
    return { value, image };
  });
  const images = read.map(({ value, image }) => (image ? imageUrl(image.sha256) : value));
  const addresses = read.flatMap(({ value, image }) => (image ? [] : value));
  return {
    event: { ...event, images },
    images: read.flatMap(({ image }) => image ?? []),
    served: hashesOfServed(addresses),
    warnings: read.flatMap(({ image }, at) =>
      image && isTruncated(image)
        ? [{ path: `images.${at}`, message: 'The image is truncated, and is stored as it was sent' }]
        : [],
    ),
  };
}

/** Images are stored before the event, so that no acknowledged event lacks its images. */
async function writeWithImages(
  app: IngestContext['app'],
  row: EventRow,
  images: readonly ReceivedImage[],
): Promise<WriteOutcome> {
  const until = performance.now() + IMAGES_MS;
  const { id: eventId, eventType, sensorId } = row;
  await app.images.keep({ eventId, eventType, sensorId, images }, until);
  if (performance.now() > until) throw imagesTookTooLong();
  return app.eventWriter.write(row, until);
}
