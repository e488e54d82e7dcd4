import { z } from 'zod';
import { optionalText } from './text.ts';

/** A place on earth in degrees (WGS 84), as input. */
export const coordinatesInput = z
  .object({
    latitude: z.number().min(-90).max(90).describe('Degrees (WGS 84), north is positive.'),
    longitude: z.number().min(-180).max(180).describe('Degrees (WGS 84), east is positive.'),
    address: optionalText(300),
  })
  .transform(
    ({ latitude, longitude, address }): Coordinates =>
      address === null ? { latitude, longitude } : { latitude, longitude, address },
  );

/** A place on earth in degrees (WGS 84), with its address if known. */
export const coordinates = z.object({
  latitude: z.number().describe('Degrees (WGS 84), north is positive.'),
  longitude: z.number().describe('Degrees (WGS 84), east is positive.'),
  address: z.string().optional(),
});
export type Coordinates = z.infer<typeof coordinates>;
