import { createHash, hash, randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { readDatabaseTime } from '../platform/database/moment.ts';
import type { Database } from '../platform/database/pool.ts';
import { startPeriodic } from '../platform/periodic.ts';
import { dailyAt } from '../platform/time.ts';
import type { ImageFiles } from './blobs.ts';
import {
  beginCheck,
  findImage,
  listDamaged,
  noteChecked,
  noteDamaged,
  noteRepaired,
  type StoredImage,
  sampleImages,
} from './store.ts';

/** Where the bytes of an image should be. */
export type LocatedImage = Pick<StoredImage, 'sha256' | 'bytes' | 'segment' | 'position'>;

/**
 * The bytes of an image, if they are those that were received; null if they are missing, or have another size or hash.
 * Reads no more than the expected size.
 */
export async function readVerified(files: ImageFiles, image: LocatedImage): Promise<Buffer | null> {
  const { sha256, bytes: expected, segment, position } = image;
  if (segment !== null && position !== null) {
    const content = await files.segments.read(segment, position, expected);
    return content?.length === expected && hash('sha256', content, 'hex') === sha256 ? content : null;
  }
  const content = await files.blobs.get(sha256);
  if (content === null) return null;
  const digest = createHash('sha256');
  const parts: Buffer[] = [];
  let size = 0;
  // Ending the loop early destroys the stream.
  for await (const part of content) {
    size += (part as Buffer).length;
    if (size > expected) return null;
    digest.update(part as Buffer);
    parts.push(part as Buffer);
  }
  return size === expected && digest.digest('hex') === sha256 ? Buffer.concat(parts, size) : null;
}

/**
 * As `readVerified`, for an image whose bytes may have been moved since its row was read.
 * @param find reads the row again
 */
export async function readStored(
  files: ImageFiles,
  image: StoredImage,
  find: () => Promise<StoredImage | null>,
): Promise<Buffer | null> {
  const content = await readVerified(files, image);
  if (content !== null) return content;
  const now = await find();
  const hasMoved = now !== null && (now.segment !== image.segment || now.position !== image.position);
  return hasMoved ? readVerified(files, now) : null;
}

/** The hour of the day, in the service's time zone, at which a sample is due, after the run of retention. */
const HOUR = 4;
const LOOK_MS = 600_000;

/** Images of a sample: at 200 kB each, it reads 200 MB. */
const SAMPLE = 1_000;

/** How many of the images that are known to be damaged are read again, in case they were repaired. */
const MAX_REPEATED = 1_000;

interface VerifyingParts {
  readonly db: Database;
  readonly files: ImageFiles;
  readonly log: Logger;
  /** The service's time zone (IANA). */
  readonly zone: () => string;
  /** Called for each image that is found damaged. */
  readonly onDamaged: () => void;
}

/**
 * Verifies a random sample of the stored images every night, and those that were damaged before, until it is disposed
 * of. Every process looks whether it is due, and the database gives it to one of them.
 */
export function startVerifyingImages(parts: VerifyingParts): AsyncDisposable {
  const { db, log, zone } = parts;
  return startPeriodic(
    { everyMs: LOOK_MS, log, failure: 'stored images cannot be verified now; trying again tomorrow' },
    async (isOver) => {
      const { last } = dailyAt(HOUR, await readDatabaseTime(db), zone());
      if (await beginCheck(db, last)) await verifySample(parts, isOver);
    },
  );
}

/** Verifies a random sample of the stored images, and reads those again that were damaged. */
export async function verifySample(parts: VerifyingParts, isOver = () => false): Promise<void> {
  const { db, files, log, onDamaged } = parts;
  const isFine = async (image: StoredImage) =>
    (await readStored(files, image, () => findImage(db, image.sha256))) !== null;
  const known = await listDamaged(db, MAX_REPEATED);
  for (const image of known) {
    if (isOver()) return;
    if (await isFine(image)) await noteRepaired(db, image.sha256);
  }
  const isKnown = new Set(known.map(({ sha256 }) => sha256));
  const first = randomBytes(32).toString('hex');
  const sample = await sampleImages(db, first, SAMPLE);
  // The hashes after the last one continue at the beginning.
  const rest = sample.length < SAMPLE ? await sampleImages(db, '', SAMPLE - sample.length) : [];
  const images = new Map<string, StoredImage>([...sample, ...rest].map((image) => [image.sha256, image]));
  for (const image of images.values()) {
    if (isOver()) return;
    const isRight = await isFine(image);
    await noteChecked(db, 1, isRight ? 0 : 1);
    if (isRight || isKnown.has(image.sha256)) continue;
    log.error(
      { sha256: image.sha256, segment: image.segment },
      'the nightly verification found a damaged image',
    );
    onDamaged();
    await noteDamaged(db, image.sha256);
  }
}
