import { addressOfImage } from '@gantry/device-formats/image';
import { invalidInput } from '../platform/error.ts';
import type { Images } from './images.ts';
import { readImage } from './read-image.ts';

/** A stored image. */
export interface KeptPicture {
  readonly sha256: string;
  /** Where it is served. */
  readonly address: string;
}

/** Maximum time until a note with images is stored, in milliseconds: less than the time limit of the request. */
const PICTURES_MS = 18_000;

/**
 * Checks and stores the images of a note, in base64. They are durable when this resolves.
 * @returns each image once, in the given order
 * @throws AppError `badRequest` at `images.<n>` for data that is not an image; `unavailable`
 */
export async function keepNotePictures(images: Images, values: readonly string[]): Promise<KeptPicture[]> {
  if (values.length === 0) return [];
  const pictures = values.map((value, at) => {
    const path = `images.${at}`;
    const picture = readImage(value, path);
    if (!picture) throw invalidInput(path, 'Send a JPEG, PNG or WebP image in base64');
    return picture;
  });
  await images.keepForNote(pictures, performance.now() + PICTURES_MS);
  return [...new Set(pictures.map(({ sha256 }) => sha256))].map((sha256) => ({
    sha256,
    address: addressOfImage(sha256),
  }));
}
