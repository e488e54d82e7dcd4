import type { Foundation } from '../platform/start.ts';
import { createImages, type Images } from './images.ts';
import { openBlobs } from './open-blobs.ts';

/** The services of images that the application context contains. */
export interface ImageServices {
  readonly images: Images;
}

export async function startImages({
  core: { config, db, log },
  resources,
}: Foundation): Promise<ImageServices> {
  const blobs = resources.use(await openBlobs(config));
  return { images: createImages({ db, log, blobs }) };
}
