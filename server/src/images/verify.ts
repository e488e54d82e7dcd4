import { createHash, randomBytes } from 'node:crypto';
import { DateTime } from 'luxon';
import type { Logger } from 'pino';
import { readDatabaseTime } from '../platform/database/moment.ts';
import type { Database } from '../platform/database/pool.ts';
import { startPeriodic } from '../platform/periodic.ts';
import type { BlobStore } from './blobs.ts';
import {
  beginCheck,
  type ExpectedImage,
  listDamaged,
  noteChecked,
  noteDamaged,
  noteRepaired,
  sampleImages,
} from './store.ts';

/**
 * The bytes of an image, if they are those that were received; null if the file is missing, or has another size or hash.
 * Reads no more than the expected size.
 */
export async function readVerified(
  blobs: BlobStore,
  { sha256, bytes: expected }: ExpectedImage,
): Promise<Buffer | null> {
  const content = await blobs.get(sha256);
  if (content === null) return null;
  const hash = createHash('sha256');
  const parts: Buffer[] = [];
  let size = 0;
  // Ending the loop early destroys the stream.
  for await (const part of content) {
    size += (part as Buffer).length;
    if (size > expected) return null;
    hash.update(part as Buffer);
    parts.push(part as Buffer);
  }
  return size === expected && hash.digest('hex') === sha256 ? Buffer.concat(parts, size) : null;
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
  readonly blobs: BlobStore;
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
      const now = await readDatabaseTime(db);
      const today = DateTime.fromMillis(now, { zone: zone() }).startOf('day').set({ hour: HOUR });
      const due = today.toMillis() <= now ? today : today.minus({ days: 1 });
      if (await beginCheck(db, due.toMillis())) await verifySample(parts, isOver);
    },
  );
}

/** Verifies a random sample of the stored images, and reads those again that were damaged. */
export async function verifySample(parts: VerifyingParts, isOver = () => false): Promise<void> {
  const { db, blobs, log, onDamaged } = parts;
  const known = await listDamaged(db, MAX_REPEATED);
  for (const image of known) {
    if (isOver()) return;
    if ((await readVerified(blobs, image)) !== null) await noteRepaired(db, image.sha256);
  }
  const isKnown = new Set(known.map(({ sha256 }) => sha256));
  const first = randomBytes(32).toString('hex');
  const sample = await sampleImages(db, first, SAMPLE);
  // The hashes after the last one continue at the beginning.
  const rest = sample.length < SAMPLE ? await sampleImages(db, '', SAMPLE - sample.length) : [];
  const images = new Map<string, ExpectedImage>([...sample, ...rest].map((image) => [image.sha256, image]));
  for (const image of images.values()) {
    if (isOver()) return;
    const isFine = (await readVerified(blobs, image)) !== null;
    await noteChecked(db, 1, isFine ? 0 : 1);
    if (isFine || isKnown.has(image.sha256)) continue;
    log.error({ sha256: image.sha256 }, 'the nightly verification found a damaged image');
    onDamaged();
    await noteDamaged(db, image.sha256);
  }
}
