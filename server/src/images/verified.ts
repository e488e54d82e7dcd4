import { createHash } from 'node:crypto';
import type { BlobStore } from './blobs.ts';
import type { ExpectedImage } from './damage-store.ts';

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
