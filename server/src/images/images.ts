import { MINUTE_MS } from '@gantry/contract/durations';
import { imageUrl, type ReceivedImage } from '@gantry/device-formats/image';
import type { Logger } from 'pino';
import { createBoundedCache } from '../platform/caches.ts';
import { isBadRow, isForeignKeyViolation } from '../platform/database/failure.ts';
import type { Database } from '../platform/database/pool.ts';
import { AppError, invalidInput, unavailable } from '../platform/error.ts';
import { Groups } from '../platform/groups.ts';
import { Shares } from '../platform/shares.ts';
import type { ImageFiles } from './blobs.ts';
import { type ReceivedFile, readImage } from './read-image.ts';
import type { Place } from './segments.ts';
import { type ImageSink, ObjectSink, SegmentSink } from './sink.ts';
import {
  type DurableImage,
  findEventOfImage,
  findImage,
  findOwners,
  type ImageOwners,
  type ImagesOfEvent,
  keepStoredImages,
  type NewImagesOfEvent,
  noteDamaged,
  recordImages,
  recordImagesOfEvents,
  referToImages,
  removeRefusedImages,
  type StoredImage,
} from './store.ts';
import { readStored } from './verify.ts';

interface ImagesParts {
  readonly db: Database;
  readonly files: ImageFiles;
  readonly log: Logger;
  /** The time in Unix milliseconds. */
  readonly now: () => number;
  /** Called for each image that is found damaged. */
  readonly onDamaged?: () => void;
  /** Called with the number of images of each group that was written. */
  readonly onGroup?: (images: number) => void;
  readonly limits?: Partial<ImageLimits>;
  /** Where new images are stored; by default what `files` says. */
  readonly sink?: ImageSink;
}

/** Limits for images that wait to be stored. */
export interface ImageLimits {
  /** Total bytes of waiting images. The images of a single event are accepted whatever their size. */
  readonly bytes: number;
  readonly events: number;
  /** Time limit for storing one image, in milliseconds. */
  readonly putMs: number;
  /** Number of consecutive failures after which images are refused at once, and for how long (milliseconds). */
  readonly failures: number;
  readonly openMs: number;
}

const LIMITS: ImageLimits = { bytes: 64_000_000, events: 2_000, putMs: 15_000, failures: 5, openMs: 500 };

/** What a sensor may have waiting however many others do, as long as there is room. */
const MIN_SHARE = { leastItems: 4, leastSize: 2_000_000 };

/** What images belong to. */
type Owner = 'event' | 'note' | 'message';

/** The error for an event, a note, or a message, whose images were not stored in time. */
export function imagesTookTooLong(owner: Owner = 'event'): AppError {
  return unavailable(`Storing the images of the ${owner} took too long: send the ${owner} again in a moment`);
}

/** Images to make durable. */
interface Task {
  readonly owner: Owner;
  /** Who sends them: a sensor, a connection of devices, or whoever writes notes. */
  readonly from: string;
  readonly images: readonly ReceivedFile[];
  /** The deadline, by the monotonic clock in milliseconds. */
  readonly until: number;
}

/** The images of an event that were received with it. */
export interface ReceivedWithEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly sensorId: string;
  readonly images: readonly ReceivedImage[];
}

/** Number of hashes of images that are known to be stored. */
const MAX_KNOWN = 20_000;

/**
 * How long an image that was recorded or kept needs no statement that keeps it, in milliseconds: nobody removes it within the
 * hour (`FRESH` of the store).
 */
const FRESH_MS = 5 * MINUTE_MS;

/** How long the place of an image whose bytes are durable serves others that send it, until it is recorded. */
const UNRECORDED_MS = 10_000;

/** Stores the images of events, notes and messages of devices. Disposing waits for those that are being written. */
export class Images implements AsyncDisposable {
  readonly files: ImageFiles;
  readonly #db: Database;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #onDamaged: () => void;
  readonly #limits: ImageLimits;
  readonly #sink: ImageSink;
  readonly #breaker: Breaker;
  readonly #waiting: Shares;
  /** When images that are probably stored were last recorded or kept, in Unix milliseconds, by their hashes. */
  readonly #known = createBoundedCache<string, number>(MAX_KNOWN);
  /** The images that are being stored, or were stored a moment ago and may not be recorded yet. */
  readonly #storing = createBoundedCache<string, Promise<Place | null>>(MAX_KNOWN, UNRECORDED_MS);
  // Each of these writes is a commit of its own, so those that arrive during one are combined into the next.
  readonly #kept: Groups<string, boolean>;
  readonly #recorded: Groups<NewImagesOfEvent, void>;
  readonly #referred: Groups<ImagesOfEvent, void>;

  constructor({ db, files, log, now, onDamaged = () => undefined, onGroup, limits, sink }: ImagesParts) {
    this.files = files;
    this.#db = db;
    this.#log = log;
    this.#now = now;
    this.#onDamaged = onDamaged;
    this.#limits = { ...LIMITS, ...limits };
    this.#sink =
      sink ??
      (files.storesObjects
        ? new ObjectSink(files.blobs, db)
        : new SegmentSink(files.segments, db, now, onGroup));
    this.#breaker = new Breaker(this.#limits);
    this.#waiting = new Shares({ items: this.#limits.events, size: this.#limits.bytes, ...MIN_SHARE });
    const together = <Item>(write: (items: readonly Item[]) => Promise<void>) =>
      new Groups<Item, void>({
        write: async (items) => {
          await write(items);
          return items.map(() => undefined);
        },
        mayBeOne: isBadRow,
      });
    this.#kept = new Groups<string, boolean>({
      write: async (hashes) => {
        const stored = await keepStoredImages(db, hashes);
        return hashes.map((sha256) => stored.has(sha256));
      },
      mayBeOne: isBadRow,
    });
    this.#recorded = together((events) => recordImagesOfEvents(db, events));
    this.#referred = together((events) => referToImages(db, events));
  }

  /**
   * Stores the images of an event before the event itself; they are durable when this resolves.
   * @param until the deadline, by the monotonic clock in milliseconds
   * @throws AppError `unavailable` when the store is unavailable or full, or too many images are waiting
   */
  async keep(event: ReceivedWithEvent, until = Number.POSITIVE_INFINITY): Promise<void> {
    const { eventId, eventType, sensorId: from, images } = event;
    const durable = await this.#makeDurable({ owner: 'event', from, images, until });
    const hashes = images.map(({ sha256 }) => sha256);
    await recording('event', this.#recorded.add({ eventId, eventType, hashes, durable }));
    this.noteRecorded(durable);
    requireTime(until, 'event');
  }

  /**
   * Stores images before the note that refers to them; they are durable when this resolves, and kept for an hour even
   * if the note is not stored. They share the queue with those of events.
   * @throws AppError `unavailable` as `keep` does
   */
  async keepForNote(images: readonly ReceivedFile[], until = Number.POSITIVE_INFINITY): Promise<void> {
    const durable = await this.#makeDurable({ owner: 'note', from: 'notes', images, until });
    await recording('note', recordImages(this.#db, durable));
    this.noteRecorded(durable);
    requireTime(until, 'note');
  }

  /**
   * Makes the images of a message of a device durable.
   * @returns those that the statement that stores the message must record; `noteRecorded` says that it has
   * @throws AppError `unavailable` as `keep` does
   */
  keepForMessage(connectionId: string, images: readonly ReceivedImage[]): Promise<readonly DurableImage[]> {
    return this.#makeDurable({
      owner: 'message',
      from: connectionId,
      images,
      until: Number.POSITIVE_INFINITY,
    });
  }

  /** Remembers that images are recorded, so that they are not stored again. */
  noteRecorded(images: readonly DurableImage[]): void {
    for (const { sha256 } of images) this.#known.set(sha256, this.#now());
  }

  /** Refers from an event, before it is stored, to images that are stored already. */
  refer(event: ImagesOfEvent): Promise<void> {
    return this.#referred.add(event);
  }

  /**
   * Takes back what `keep` or `refer` recorded for content that was refused, because its key was used for a stored event;
   * the images of that event stay.
   */
  release(event: ImagesOfEvent): Promise<void> {
    return removeRefusedImages(this.#db, event);
  }

  find(sha256: string): Promise<StoredImage | null> {
    return findImage(this.#db, sha256);
  }

  /** What refers to an image. */
  ownersOf(sha256: string): Promise<ImageOwners> {
    return findOwners(this.#db, sha256);
  }

  /** The event that an image belongs to; null if it belongs to none, or to several. */
  eventOf(sha256: string): Promise<string | null> {
    return findEventOfImage(this.#db, sha256);
  }

  /**
   * The bytes of a stored image, which have the hash that names it.
   * @throws AppError `damaged` when the file is missing or changed; `unavailable` when the store does not answer
   */
  async read(image: StoredImage): Promise<Buffer> {
    const { sha256 } = image;
    const content = await readStored(this.files, image, () => this.find(sha256)).catch((err: unknown) => {
      this.#log.error({ err, sha256 }, 'an image could not be read');
      throw unavailable('Images cannot be read at the moment: try again later', err);
    });
    if (content !== null) return content;
    this.#log.error({ sha256, segment: image.segment }, 'a stored image is missing or damaged');
    this.#onDamaged();
    await noteDamaged(this.#db, sha256);
    throw new AppError(
      'damaged',
      'The stored image is not the one that was received: ask the administrator to restore it from a backup',
    );
  }

  /** As `read`, by the hash; null if the image is missing or damaged. @throws AppError `unavailable` */
  async readIfWhole(sha256: string): Promise<Buffer | null> {
    const image = await this.find(sha256);
    if (!image) return null;
    return this.read(image).catch((error: unknown) => {
      if (error instanceof AppError && error.kind === 'damaged') return null;
      throw error;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sink[Symbol.asyncDispose]();
  }

  /** @returns the images that must be recorded */
  async #makeDurable({ owner, from, images, until }: Task): Promise<DurableImage[]> {
    const bytes = bytesOf(images);
    if (!this.#waiting.hasRoom(from, bytes)) {
      throw unavailable(`More images are arriving than can be stored: send the ${owner} again in a moment`);
    }
    if (this.#breaker.isOpen) throw cannotBeStored(owner);
    this.#waiting.add(from, bytes);
    const puts: Promise<unknown>[] = [];
    try {
      const unknown = await this.#withoutKnown(images);
      requireTime(until, owner);
      const durable = await Promise.all(
        unknown.map(async (image) => {
          const place = await this.#put(owner, image, puts);
          return { ...image, bytes: image.bytes.length, place };
        }),
      );
      requireTime(until, owner);
      return durable;
    } finally {
      // Writes that were abandoned may still hold their bytes.
      void Promise.allSettled(puts).then(() => this.#waiting.remove(from, bytes));
    }
  }

  /** The images that are not known to be stored, each once. Those that are stored are kept for another hour. */
  async #withoutKnown(images: readonly ReceivedFile[]): Promise<ReceivedFile[]> {
    const each = [...new Map(images.map((image) => [image.sha256, image])).values()];
    const isStored = await Promise.all(each.map(({ sha256 }) => this.#isStored(sha256)));
    return each.filter((_, at) => !isStored[at]);
  }

  async #isStored(sha256: string): Promise<boolean> {
    const keptAt = this.#known.get(sha256);
    if (keptAt === undefined) return false;
    const now = this.#now();
    if (Math.abs(now - keptAt) < FRESH_MS) return true;
    const isStored = await this.#kept.add(sha256);
    if (isStored) this.#known.set(sha256, now);
    return isStored;
  }

  async #put(owner: Owner, image: ReceivedFile, puts: Promise<unknown>[]): Promise<Place | null> {
    const { sha256 } = image;
    try {
      return await this.#breaker.run(
        () => {
          const put = this.#storing.get(sha256) ?? this.#begin(image);
          puts.push(put);
          return within(this.#limits.putMs, put, () => {
            this.#log.error(
              { sha256, seconds: this.#limits.putMs / 1_000 },
              'storing an image took too long',
            );
            return imagesTookTooLong(owner);
          });
        },
        () => cannotBeStored(owner),
      );
    } catch (err) {
      if (err instanceof AppError) throw err;
      this.#log.error({ err, sha256 }, 'an image could not be stored');
      throw cannotBeStored(owner, err);
    }
  }

  #begin(image: ReceivedFile): Promise<Place | null> {
    const put = this.#sink.put(image);
    this.#storing.set(image.sha256, put);
    put.catch(() => this.#storing.delete(image.sha256));
    return put;
  }
}

/** @throws AppError `unavailable` when a segment was removed, because this process was suspended for long */
async function recording(owner: Owner, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    throw isForeignKeyViolation(error) ? cannotBeStored(owner, error) : error;
  }
}

function requireTime(until: number, owner: Owner): void {
  if (performance.now() > until) throw imagesTookTooLong(owner);
}

function cannotBeStored(owner: Owner, cause?: unknown): AppError {
  return unavailable(
    `The images of the ${owner} cannot be stored at the moment: send the ${owner} again later`,
    cause,
  );
}

function bytesOf(images: readonly ReceivedFile[]): number {
  return images.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** Waits for `work`; rejects with the result of `late` after the time limit, while the work continues. */
async function within<Result>(ms: number, work: Promise<Result>, late: () => Error): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

interface BreakerOptions {
  /** Number of consecutive failures after which calls are refused. */
  readonly failures: number;
  /** How long calls are refused before one may try, in milliseconds. */
  readonly openMs: number;
}

/** Stops calls to something that fails repeatedly, and lets one at a time try whether it works again. */
class Breaker {
  readonly #options: BreakerOptions;
  #failures = 0;
  /** By the monotonic clock. */
  #openUntil = Number.NEGATIVE_INFINITY;
  #isTrying = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** Whether calls are refused at present. */
  get isOpen(): boolean {
    return this.#isBroken && (this.#isTrying || performance.now() < this.#openUntil);
  }

  get #isBroken(): boolean {
    return this.#failures >= this.#options.failures;
  }

  /** Runs the work and records whether it failed. @throws the result of `refusal` while calls are refused */
  async run<Result>(work: () => Promise<Result>, refusal: () => Error): Promise<Result> {
    if (this.isOpen) throw refusal();
    const tries = this.#isBroken;
    if (tries) this.#isTrying = true;
    try {
      const result = await work();
      this.#failures = 0;
      return result;
    } catch (error) {
      this.#failures++;
      this.#openUntil = performance.now() + this.#options.openMs;
      throw error;
    } finally {
      if (tries) this.#isTrying = false;
    }
  }
}

/** A stored image. */
interface KeptImage {
  readonly sha256: string;
  /** Where it is served. */
  readonly address: string;
}

/** Maximum time until a note with images is stored, in milliseconds: less than the time limit of the request. */
const IMAGES_MS = 18_000;

/**
 * Checks and stores the images of a note, in base64. They are durable when this resolves.
 * @param pathOf where the n-th of them is in the input
 * @returns each image once, in the given order
 * @throws AppError `badRequest` at that path for data that is not an image; `unavailable`
 */
export async function keepNoteImages(
  images: Images,
  values: readonly string[],
  pathOf = (at: number) => `images.${at}`,
): Promise<KeptImage[]> {
  if (values.length === 0) return [];
  const received = values.map((value, at) => {
    const path = pathOf(at);
    const image = readImage(value, path);
    if (!image) throw invalidInput(path, 'Send a JPEG, PNG or WebP image in base64');
    return image;
  });
  await images.keepForNote(received, performance.now() + IMAGES_MS);
  return [...new Set(received.map(({ sha256 }) => sha256))].map((sha256) => ({
    sha256,
    address: imageUrl(sha256),
  }));
}
