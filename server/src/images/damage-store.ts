import { sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';

/** An image that should be stored. */
export interface ExpectedImage {
  readonly sha256: string;
  readonly bytes: number;
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
export async function listDamaged(db: Executor, limit: number): Promise<ExpectedImage[]> {
  const { rows } = await db.execute<ExpectedImage & Record<string, unknown>>(sql`
    SELECT encode(sha256, 'hex') AS sha256, bytes FROM damaged_images JOIN images USING (sha256)
    ORDER BY found_at, sha256 LIMIT ${limit}`);
  return rows;
}

/** Stored images from a hash on, which is a random sample if the hash is random. */
export async function sampleImages(db: Executor, from: string, limit: number): Promise<ExpectedImage[]> {
  // Plan: images_pkey.
  const { rows } = await db.execute<ExpectedImage & Record<string, unknown>>(sql`
    SELECT encode(sha256, 'hex') AS sha256, bytes FROM images
    WHERE sha256 >= decode(${from}, 'hex') AND stored_at IS NOT NULL ORDER BY sha256 LIMIT ${limit}`);
  return rows;
}

/** What is known of damaged images, and the last verification. */
export interface ImageCondition {
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
