import type { Logger } from 'pino';
import type { Database } from '../platform/database/pool.ts';
import type { Transaction } from '../platform/database/transaction.ts';
import type { ImageFiles } from './blobs.ts';
import { SegmentWriter } from './segments.ts';
import {
  closeAbandonedSegment,
  type KnownSegment,
  listAbandonedSegments,
  listSegmentsToRewrite,
  type MovedImage,
  monthsOfFiles,
  moveImages,
  pageOfSegment,
  removeSegment,
  segmentRegister,
} from './segments-store.ts';
import { noteDamaged, type StoredImage } from './store.ts';
import { readVerified } from './verify.ts';

/** What moving images needs. */
export interface RewriteParts {
  readonly db: Database;
  readonly log: Logger;
  readonly files: ImageFiles;
  /** The time in Unix milliseconds. */
  readonly now: () => number;
  /** Whether to stop after the current images. */
  readonly stopped: () => boolean;
  /** Runs a transaction while no backup is made, which still needs the files that its snapshot shows. */
  readonly transact: (work: (tx: Transaction) => Promise<void>) => Promise<void>;
}

/** The images that are copied together: so much is in memory, and so much is written before other images have a turn. */
const IMAGES_AT_ONCE = 500;
const BYTES_AT_ONCE = 8_000_000;

/** Length of the month in the name of a segment. */
const MONTH = 'YYYY-MM'.length;

/**
 * Gives back the space of removed images: copies what is left of segments with enough of them to new ones, and removes
 * segments without images. A damaged image stays where it is, and so does its segment.
 */
export async function rewriteSegments(parts: RewriteParts): Promise<void> {
  const { db, files, now, stopped, transact } = parts;
  for (const { id, name } of await listAbandonedSegments(db)) {
    await closeAbandonedSegment(db, id, await files.segments.sizeOf(name));
  }
  await using writer = new SegmentWriter(files.segments, segmentRegister(db), now);
  for (const segment of await listSegmentsToRewrite(db)) {
    await rewrite(parts, writer, segment);
    if (stopped()) return;
    await transact((tx) => removeSegment(tx, segment.id, () => files.segments.remove(segment.name)));
  }
}

async function rewrite(
  parts: RewriteParts,
  writer: SegmentWriter,
  { id, name }: KnownSegment,
): Promise<void> {
  const { db, stopped } = parts;
  let after = -1;
  while (!stopped()) {
    const page = firstOf(await pageOfSegment(db, id, after, IMAGES_AT_ONCE));
    if (page.length === 0) return;
    await copy(parts, writer, { images: page, from: id, month: name.slice(0, MONTH) });
    after = page.at(-1)?.position ?? after;
  }
}

/** As many images as are copied together, at least one. */
function firstOf(images: readonly StoredImage[]): StoredImage[] {
  let bytes = 0;
  return images.filter((image, at) => {
    bytes += image.bytes;
    return at === 0 || bytes <= BYTES_AT_ONCE;
  });
}

interface Copied {
  readonly images: readonly StoredImage[];
  /** The id of the segment where they are; null for files of their own. */
  readonly from: number | null;
  readonly month: string;
}

/** Copies images to a segment. @returns the hashes of those that are there now */
async function copy(
  { db, log, files, transact }: RewriteParts,
  writer: SegmentWriter,
  { images, from, month }: Copied,
): Promise<ReadonlySet<string>> {
  const read: { sha256: string; bytes: Buffer }[] = [];
  for (const image of images) {
    const bytes = await readVerified(files, image);
    if (bytes !== null) read.push({ sha256: image.sha256, bytes });
    else {
      log.error({ sha256: image.sha256 }, 'a damaged image was found while images were moved');
      await noteDamaged(db, image.sha256);
    }
  }
  if (read.length === 0) return new Set();
  const places = await writer.append(read, month);
  const given = read.flatMap(({ sha256, bytes }, at): MovedImage[] => {
    const to = places[at];
    return to ? [{ sha256, bytes: bytes.length, to }] : [];
  });
  let moved: ReadonlySet<string> = new Set();
  await transact(async (tx) => {
    moved = await moveImages(tx, from, given);
  });
  return moved;
}

/**
 * Moves images that have files of their own, as earlier versions stored them and as a restore does, to segments. A file
 * whose image the database does not name stays.
 */
export async function moveFilesToSegments(parts: RewriteParts): Promise<void> {
  const { db, files, now, stopped } = parts;
  if (files.storesObjects) return;
  await using writer = new SegmentWriter(files.segments, segmentRegister(db), now);
  let keys: string[] = [];
  const moveThese = async (): Promise<void> => {
    const images = await monthsOfFiles(db, keys);
    keys = [];
    // Those that were moved before a process ended, and whose files are left.
    const done = images.filter(({ segment }) => segment !== null).map(({ sha256 }) => sha256);
    const waiting = images.filter(({ segment }) => segment === null);
    for (const month of [...new Set(waiting.map((image) => image.month))].sort()) {
      let left: StoredImage[] = waiting.filter((image) => image.month === month);
      while (left.length > 0) {
        const first = firstOf(left);
        left = left.slice(first.length);
        done.push(...(await copy(parts, writer, { images: first, from: null, month })));
      }
    }
    for (const sha256 of done) await files.blobs.delete(sha256);
  };
  for await (const { key } of files.blobs.list()) {
    if (stopped()) return;
    keys.push(key);
    if (keys.length >= IMAGES_AT_ONCE) await moveThese();
  }
  await moveThese();
}
