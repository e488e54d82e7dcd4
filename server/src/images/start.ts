import type { Foundation } from '../platform/start.ts';
import { openImageFiles } from './blobs.ts';
import { Images } from './images.ts';
import { startVerifyingImages } from './verify.ts';

/** The services of images that the application context contains. */
export interface ImageServices {
  readonly images: Images;
}

export async function startImages({
  core: { config, db, log, metrics, settings, clock },
  resources,
}: Foundation): Promise<ImageServices> {
  const files = resources.use(await openImageFiles(config));
  const onDamaged = () => metrics.damagedImages.inc();
  const zone = () => settings.current().timezone;
  resources.use(startVerifyingImages({ db, files, log, zone, onDamaged }));
  const onGroup = (images: number) => metrics.imageGroupSize.observe(images);
  const images = new Images({ db, log, files, now: clock.now, onDamaged, onGroup });
  return { images: resources.use(images) };
}
