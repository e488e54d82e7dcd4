import { sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';

/** An image of a note, which is stored already. */
export interface NoteImage {
  /** SHA-256, 64 hexadecimal digits. */
  readonly sha256: string;
  readonly address: string;
}

/** Records that an incident refers to these images, so that they are kept. */
export async function attachImages(
  tx: Executor,
  incidentId: string,
  images: readonly NoteImage[],
): Promise<void> {
  if (images.length === 0) return;
  const hashes = images.map(({ sha256 }) => sha256);
  await tx.execute(sql`
    INSERT INTO incident_images (incident_id, sha256)
    SELECT ${incidentId}::uuid, decode(hex, 'hex') FROM unnest(${sql.param(hashes)}::text[]) AS hex ORDER BY hex
    ON CONFLICT DO NOTHING`);
}
