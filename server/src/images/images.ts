import { imageUrl, type ReceivedImage } from '@gantry/device-formats/image';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { isBadRow } from '../platform/database/failure.ts';
import type { Database } from '../platform/database/pool.ts';
import { AppError, invalidInput, unavailable } from '../platform/error.ts';
import { Groups } from '../platform/groups.ts';
import { type BlobStore, Breaker } from './blobs.ts';
import { readImage } from './read-image.ts';
import {
  findImage,
  type ImagesOfEvent,
  isImageOfDevice,
  type NewImagesOfEvent,
  type NewImagesOfMessage,
  noteDamaged,
  noteImages,
  noteImagesOfEvent,
  noteImagesOfMessages,
  noteImagesStored,
  referToImages,
  removeRefusedImages,
  type StoredImage,
} from './store.ts';
import { readVerified } from './verify.ts';

interface ImagesParts {
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly log: Logger;
  /** Called for each image that is found damaged. */
  readonly onDamaged?: () => void;
  readonly limits?: Partial<ImageLimits>;
}

/** Limits for images that wait to be stored. */
export interface ImageLimits {
  /** Total bytes of waiting images. The images of a single event are accepted whatever their size. */
  readonly bytes: number;
  readonly events: number;
  /** Time limit for storing one file, in milliseconds. */
  readonly putMs: number;
  /** Number of consecutive failures after which images are refused at once, and for how long (milliseconds). */
  readonly failures: number;
  readonly openMs: number;
}

/** Number of files written at once, so that a large batch does not use every thread or connection. */
const WRITES_AT_ONCE = 8;

const LIMITS: ImageLimits = { bytes: 64_000_000, events: 2_000, putMs: 15_000, failures: 5, openMs: 500 };

/** What images belong to. */
type Owner = 'event' | 'note' | 'message';

/** The error for an event, a note, or a message, whose images were not stored in time. */
export function imagesTookTooLong(owner: Owner = 'event'): AppError {
  return unavailable(`Storing the images of the ${owner} took too long: send the ${owner} again in a moment`);
}

/** Images that wait to be stored. */
interface Task {
  readonly owner: Owner;
  readonly images: readonly ReceivedImage[];
  /** Records them. @returns the hashes of those whose file must be stored */
  readonly note: () => Promise<ReadonlySet<string>>;
  /** Whether they are recorded before their turn, combined with those of other tasks. */
  readonly isNotedAhead?: boolean;
  /** Records that the file of one is stored. */
  readonly stored: (sha256: string) => Promise<void>;
}

/** How far a task has come. */
interface Progress {
  /** The deadline, by the monotonic clock in milliseconds. */
  readonly until: number;
  /** The hashes of the images whose file must be stored; null before they are recorded. */
  readonly lacking: ReadonlySet<string> | null;
  /** The writes that were started. */
  readonly puts: Promise<void>[];
}

/** Stores the images of events, notes and messages of devices. */
export class Images {
  readonly blobs: BlobStore;
  readonly #db: Database;
  readonly #log: Logger;
  readonly #onDamaged: () => void;
  readonly #limits: ImageLimits;
  readonly #inTurn = pLimit(WRITES_AT_ONCE);
  readonly #breaker: Breaker;
  readonly #waiting = { events: 0, bytes: 0 };
  // Each of these writes is a commit of its own, so those that arrive during one are combined into the next.
  readonly #noted: Groups<NewImagesOfMessage, ReadonlySet<string>>;
  readonly #marked: Groups<string, void>;
  readonly #referred: Groups<ImagesOfEvent, void>;

  constructor({ db, blobs, log, onDamaged = () => undefined, limits }: ImagesParts) {
    this.blobs = blobs;
    this.#db = db;
    this.#log = log;
    this.#onDamaged = onDamaged;
    this.#limits = { ...LIMITS, ...limits };
    this.#breaker = new Breaker(this.#limits);
    this.#noted = new Groups<NewImagesOfMessage, ReadonlySet<string>>({
      write: async (messages) => {
        const lacking = await noteImagesOfMessages(db, messages);
        return messages.map(() => lacking);
      },
      mayBeOne: isBadRow,
    });
    this.#marked = new Groups<string, void>({
      write: async (hashes) => {
        await noteImagesStored(db, hashes);
        return hashes.map(() => undefined);
      },
      mayBeOne: isBadRow,
    });
    this.#referred = new Groups<ImagesOfEvent, void>({
      write: async (events) => {
        await referToImages(db, events);
        return events.map(() => undefined);
      },
      mayBeOne: isBadRow,
    });
  }

  /**
   * Stores the images of an event before the event itself; they are durable when this resolves.
   * @param until the deadline, by the monotonic clock in milliseconds
   * @throws AppError `unavailable` when the store is unavailable or full, or too many images are waiting
   */
  keep(event: NewImagesOfEvent, until?: number): Promise<void> {
    const note = () => noteImagesOfEvent(this.#db, event);
    return this.#keepInTurn({ owner: 'event', images: event.images, note, stored: this.#mark }, until);
  }

  /**
   * Stores images before the note that refers to them; they are durable when this resolves, and kept for an hour even
   * if the note is not stored. They share the queue with those of events.
   * @throws AppError `unavailable` as `keep` does
   */
  keepForNote(images: readonly ReceivedImage[], until?: number): Promise<void> {
    const note = () => noteImages(this.#db, images);
    return this.#keepInTurn({ owner: 'note', images, note, stored: this.#mark }, until);
  }

  /**
   * The same for a message of a device, before the message is stored.
   * @returns the hashes of the images whose files were stored by this call, which the statement that stores the message
   * must mark as stored
   */
  async keepForMessage(message: NewImagesOfMessage, until?: number): Promise<readonly string[]> {
    const hashes: string[] = [];
    await this.#keepInTurn(
      {
        owner: 'message',
        images: message.images,
        note: () => this.#noted.add(message),
        isNotedAhead: true,
        stored: async (sha256) => void hashes.push(sha256),
      },
      until,
    );
    return hashes;
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

  /** Whether the image is one of an event or a message of a device, and not only of notes of people. */
  isFromDevice(sha256: string): Promise<boolean> {
    return isImageOfDevice(this.#db, sha256);
  }

  /**
   * The bytes of a stored image, which have the hash that names it.
   * @throws AppError `damaged` when the file is missing or changed; `unavailable` when the store does not answer
   */
  async read(sha256: string, { bytes }: StoredImage): Promise<Buffer> {
    const content = await readVerified(this.blobs, { sha256, bytes }).catch((err: unknown) => {
      this.#log.error({ err, sha256 }, 'an image could not be read');
      throw unavailable('Images cannot be read at the moment: try again later', err);
    });
    if (content !== null) return content;
    this.#log.error({ sha256 }, 'a stored image is missing or damaged');
    this.#onDamaged();
    await noteDamaged(this.#db, sha256);
    throw new AppError(
      'damaged',
      'The stored image is not the one that was received: ask the administrator to restore it from a backup',
    );
  }

  readonly #mark = (sha256: string): Promise<void> => this.#marked.add(sha256);

  async #keepInTurn(task: Task, until = Number.POSITIVE_INFINITY): Promise<void> {
    const { owner, images } = task;
    const waiting = this.#waiting;
    const bytes = bytesOf(images);
    const isFull = waiting.events >= this.#limits.events || waiting.bytes + bytes > this.#limits.bytes;
    if (isFull && waiting.events > 0) {
      throw unavailable(`More images are arriving than can be stored: send the ${owner} again in a moment`);
    }
    if (this.#breaker.isOpen) throw cannotBeStored(owner);
    waiting.events++;
    waiting.bytes += bytes;
    const puts: Promise<void>[] = [];
    try {
      const lacking = task.isNotedAhead ? await task.note() : null;
      if (lacking && !images.some(({ sha256 }) => lacking.has(sha256))) return;
      await this.#inTurn(() => this.#keepNow(task, { until, lacking, puts }));
    } finally {
      // Writes that were abandoned may still hold their bytes.
      void Promise.allSettled(puts).then(() => {
        waiting.events--;
        waiting.bytes -= bytes;
      });
    }
  }

  async #keepNow(task: Task, { until, lacking, puts }: Progress): Promise<void> {
    const { owner, images, note } = task;
    requireTime(until, owner);
    if (this.#breaker.isOpen) throw cannotBeStored(owner);
    const missing = lacking ?? (await note());
    for (const image of images) {
      if (!missing.has(image.sha256)) continue;
      requireTime(until, owner);
      await this.#store(task, image, puts);
    }
    requireTime(until, owner);
  }

  async #store(
    { owner, stored }: Task,
    { sha256, bytes }: ReceivedImage,
    puts: Promise<void>[],
  ): Promise<void> {
    const { putMs } = this.#limits;
    try {
      await this.#breaker.run(
        () => {
          const put = this.blobs.put(sha256, bytes);
          puts.push(put);
          return within(putMs, put, () => {
            this.#log.error({ sha256, seconds: putMs / 1_000 }, 'storing an image took too long');
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
    await stored(sha256);
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

function bytesOf(images: readonly ReceivedImage[]): number {
  return images.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** Waits for `work`; rejects with the result of `late` after the time limit, while the work continues. */
async function within(ms: number, work: Promise<void>, late: () => Error): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
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
 * @returns each image once, in the given order
 * @throws AppError `badRequest` at `images.<n>` for data that is not an image; `unavailable`
 */
export async function keepNoteImages(images: Images, values: readonly string[]): Promise<KeptImage[]> {
  if (values.length === 0) return [];
  const received = values.map((value, at) => {
    const path = `images.${at}`;
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
