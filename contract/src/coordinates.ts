import { z } from 'zod';
import { optionalText } from './text.ts';

/** A place on earth in degrees (WGS 84), as input. */
export const coordinatesInput = z
  .object({
    latitude: z.number().min(-90).max(90),
    longitude: z.number().min(-180).max(180),
    address: optionalText(300),
  })
  .transform(
    ({ latitude, longitude, address }): Coordinates =>
      address === null ? { latitude, longitude } : { latitude, longitude, address },
  );

/** A place on earth in degrees (WGS 84), with its address if known. */
export const coordinates = z.object({
  latitude: z.number(),
  longitude: z.number(),
  address: z.string().optional(),
});
export type Coordinates = z.infer<typeof coordinates>;
