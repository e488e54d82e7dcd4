import type { Images } from './images.ts';

/** What this room adds to the service. */
export interface ImageServices {
  readonly images: Images;
}
