import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { Database } from '../platform/database/pool.ts';
import { type AppError, unavailable } from '../platform/error.ts';
import type { BlobStore } from './blobs.ts';
import { createBreaker } from './breaker.ts';
import type { Picture } from './read-image.ts';
import {
  findImage,
  noteImageStored,
  noteImages,
  type PicturesOfEvent,
  type PicturesOfMessage,
  referToImages,
  type StoredImage,
} from './store.ts';

export interface ImagesParts {
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly log: Logger;
  readonly limits?: Partial<ImageLimits>;
}

/** Limits on images that wait to be stored. */
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

/** Stores the images of events. */
export interface Images {
  /**
   * Stores the images of an event or message before that itself; they are durable when this resolves.
   * @param until when its turn must have come, by the monotonic clock in milliseconds
   * @throws AppError `unavailable` when the store is unavailable or full, or too many images are waiting
   */
  keep(owner: PicturesOfEvent | PicturesOfMessage, until?: number): Promise<void>;
  /** Refers from an event, before it is stored, to images that are stored already. */
  refer(
    event: { readonly eventId: string; readonly eventType: string },
    hashes: readonly string[],
  ): Promise<void>;
  find(sha256: string): Promise<StoredImage | null>;
  readonly blobs: BlobStore;
}

/** Number of files written at once, so that a large batch does not use every thread or connection. */
const WRITES_AT_ONCE = 8;

const LIMITS: ImageLimits = { bytes: 64_000_000, events: 2_000, putMs: 15_000, failures: 5, openMs: 500 };

/** The error for an event whose images were not stored in time. */
export function picturesTookTooLong(): AppError {
  return unavailable('Storing the images of the event took too long: send the event again in a moment');
}

export function createImages({ db, blobs, log, limits }: ImagesParts): Images {
  const { bytes: mostBytes, events: mostEvents, putMs, failures, openMs } = { ...LIMITS, ...limits };
  const inTurn = pLimit(WRITES_AT_ONCE);
  const breaker = createBreaker({ failures, openMs, refusal: cannotBeStored });
  const waiting = { events: 0, bytes: 0 };

  const store = async ({ sha256, bytes }: Picture, puts: Promise<void>[]): Promise<void> => {
    try {
      await breaker.run(() => {
        const put = blobs.put(sha256, bytes);
        puts.push(put);
        return within(putMs, put, picturesTookTooLong);
      });
    } catch (err) {
      log.error({ err, sha256 }, 'an image could not be stored');
      throw cannotBeStored(err);
    }
    await noteImageStored(db, sha256);
  };

  const requireTime = (until: number): void => {
    if (performance.now() > until) throw picturesTookTooLong();
  };

  const keepNow = async (
    event: PicturesOfEvent | PicturesOfMessage,
    until: number,
    puts: Promise<void>[],
  ): Promise<void> => {
    requireTime(until);
    if (breaker.isOpen()) throw cannotBeStored();
    const lacking = await noteImages(db, event);
    for (const picture of event.pictures) {
      if (!lacking.has(picture.sha256)) continue;
      requireTime(until);
      await store(picture, puts);
    }
    requireTime(until);
  };

  return {
    blobs,
    refer: (event, hashes) => referToImages(db, event, hashes),
    find: (sha256) => findImage(db, sha256),
    async keep(event, until = Number.POSITIVE_INFINITY) {
      const bytes = bytesOf(event);
      const isFull = waiting.events >= mostEvents || waiting.bytes + bytes > mostBytes;
      if (isFull && waiting.events > 0) {
        throw unavailable('More images are arriving than can be stored: send the event again in a moment');
      }
      if (breaker.isOpen()) throw cannotBeStored();
      waiting.events++;
      waiting.bytes += bytes;
      const puts: Promise<void>[] = [];
      try {
        await inTurn(() => keepNow(event, until, puts));
      } finally {
        // Writes that were abandoned may still hold their bytes.
        void Promise.allSettled(puts).then(() => {
          waiting.events--;
          waiting.bytes -= bytes;
        });
      }
    },
  };
}

function cannotBeStored(cause?: unknown): AppError {
  return unavailable(
    'The images of the event cannot be stored at the moment: send the event again later',
    cause,
  );
}

function bytesOf({ pictures }: PicturesOfEvent | PicturesOfMessage): number {
  return pictures.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** The result of `work`; rejects with `late` after the time limit, while the work continues. */
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
