import { DateTime } from 'luxon';
import pLimit from 'p-limit';
import { isBadRow } from '../platform/database/failure.ts';
import type { Database } from '../platform/database/pool.ts';
import { Groups } from '../platform/groups.ts';
import type { BlobStore } from './blobs.ts';
import type { ReceivedFile } from './read-image.ts';
import { type Place, type SegmentFiles, SegmentWriter } from './segments.ts';
import { segmentRegister } from './segments-store.ts';
import { announceImages } from './store.ts';

/** Stores the bytes of images. */
export interface ImageSink extends AsyncDisposable {
  /** @returns where the bytes are, which are durable: null for an object of their own. Errors of the store are thrown */
  put(image: ReceivedFile): Promise<Place | null>;
}

/** Appends images to segments: those that arrive while a group is written form the next group. */
export class SegmentSink implements ImageSink {
  readonly #writer: SegmentWriter;
  readonly #groups: Groups<ReceivedFile, Place>;

  /**
   * @param now the time in Unix milliseconds
   * @param onGroup called with the number of images of each group that was written
   */
  constructor(
    files: SegmentFiles,
    db: Database,
    now: () => number,
    onGroup: (images: number) => void = () => undefined,
  ) {
    this.#writer = new SegmentWriter(files, segmentRegister(db), now);
    this.#groups = new Groups<ReceivedFile, Place>({
      write: async (images) => {
        const places = await this.#writer.append(images, monthAt(now()));
        onGroup(images.length);
        return places;
      },
      // One that cannot be written says nothing about the image.
      mayBeOne: () => false,
      sizeOf: ({ bytes }) => bytes.length,
    });
  }

  put(image: ReceivedFile): Promise<Place> {
    return this.#groups.add(image);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#groups[Symbol.asyncDispose]();
    await this.#writer[Symbol.asyncDispose]();
  }
}

/** The month of a time, `YYYY-MM` in UTC. @param time Unix milliseconds */
export function monthAt(time: number): string {
  return DateTime.fromMillis(time, { zone: 'utc' }).toFormat('yyyy-MM');
}

/** Number of objects that are stored at once. */
const OBJECTS_AT_ONCE = 32;

/** Stores images as objects of their own, which their hashes name. */
export class ObjectSink implements ImageSink {
  readonly #blobs: BlobStore;
  readonly #inTurn = pLimit(OBJECTS_AT_ONCE);
  readonly #announced: Groups<ReceivedFile, boolean>;

  constructor(blobs: BlobStore, db: Database) {
    this.#blobs = blobs;
    this.#announced = new Groups<ReceivedFile, boolean>({
      write: async (images) => {
        const lacking = await announceImages(db, images);
        return images.map(({ sha256 }) => lacking.has(sha256));
      },
      mayBeOne: isBadRow,
    });
  }

  async put(image: ReceivedFile): Promise<null> {
    if (await this.#announced.add(image)) {
      await this.#inTurn(() => this.#blobs.put(image.sha256, image.bytes));
    }
    return null;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#announced[Symbol.asyncDispose]();
  }
}
