import type { Foundation } from '../platform/start.ts';
import { openBlobs } from './blobs.ts';
import { Images } from './images.ts';
import { startVerifyingImages } from './verify.ts';

/** The services of images that the application context contains. */
export interface ImageServices {
  readonly images: Images;
}

export async function startImages({
  core: { config, db, log, metrics, settings },
  resources,
}: Foundation): Promise<ImageServices> {
  const blobs = resources.use(await openBlobs(config));
  const onDamaged = () => metrics.damagedImages.inc();
  const zone = () => settings.current().timezone;
  resources.use(startVerifyingImages({ db, blobs, log, zone, onDamaged }));
  return { images: new Images({ db, log, blobs, onDamaged }) };
}
