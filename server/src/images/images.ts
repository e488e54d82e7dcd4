import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { Database } from '../database/pool.ts';
import { unavailable } from '../error.ts';
import type { BlobStore } from './blobs.ts';
import {
  findImage,
  noteImageStored,
  noteImages,
  type PicturesOfEvent,
  type StoredImage,
} from './images-store.ts';
import type { Picture } from './read-image.ts';

export interface ImagesParts {
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly log: Logger;
}

/** The pictures that come with events. */
export interface Images {
  /**
   * Stores the pictures of an event that is about to be stored; they are durable when this resolves.
   * @throws AppError `unavailable` when the place for them is away or full
   */
  keep(event: PicturesOfEvent): Promise<void>;
  find(sha256: string): Promise<StoredImage | null>;
  readonly blobs: BlobStore;
}

/** Files written at once, so that a large batch does not take every thread or connection. */
const WRITES_AT_ONCE = 8;

export const createImages = ({ db, blobs, log }: ImagesParts): Images => {
  const inTurn = pLimit(WRITES_AT_ONCE);

  const store = async ({ sha256, bytes }: Picture): Promise<void> => {
    try {
      await blobs.put(sha256, bytes);
    } catch (err) {
      log.error({ err, sha256 }, 'a picture could not be stored');
      throw unavailable('The pictures of the event cannot be stored now: send it again in a moment', err);
    }
    await noteImageStored(db, sha256);
  };

  return {
    blobs,
    find: (sha256) => findImage(db, sha256),
    keep: (event) =>
      inTurn(async () => {
        const lacking = await noteImages(db, event);
        for (const picture of event.pictures) {
          if (lacking.has(picture.sha256)) await store(picture);
        }
      }),
  };
};
