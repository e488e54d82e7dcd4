import { z } from 'zod';
import { coordinates, coordinatesInput } from './coordinates.ts';
import { id } from './id.ts';
import { pageTotals, paging, sortOrder } from './page.ts';
import { editableText, optionalText, searchText, trimmedText } from './text.ts';
import { timeInput } from './time.ts';

/** A place with sensors. */
export const location = z.object({
  id: z.string(),
  name: z.string(),
  address: z.string(),
  coordinates: coordinates.nullable(),
  description: z.string().nullable(),
  speedLimit: z.number().nullable().describe('km/h'),
  sensorCount: z.number().describe('Number of sensors.'),
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type Location = z.infer<typeof location>;

const name = trimmedText(100, 1);
const address = trimmedText(300);
const speedLimit = z.number().min(1).max(400);

export const createLocationInput = z.object({
  name,
  address: address.default(''),
  coordinates: coordinatesInput.nullish().transform((value) => value ?? null),
  description: optionalText(2000),
  speedLimit: speedLimit
    .nullish()
    .transform((value) => value ?? null)
    .describe('km/h.'),
});
export type CreateLocationInput = z.infer<typeof createLocationInput>;

export const updateLocationInput = z.object({
  id,
  name: name.optional(),
  address: address.optional(),
  coordinates: coordinatesInput.nullable().optional(),
  description: editableText(2000),
  speedLimit: speedLimit.nullable().optional().describe('km/h.'),
  validFrom: timeInput
    .optional()
    .describe(
      'Since when `speedLimit` holds, if it was changed in the past. Later changes that are recorded no longer count.',
    ),
  validUntil: timeInput
    .optional()
    .describe(
      'Until when it held, exclusive. What is recorded of the time after that stays, also the present limit.',
    ),
});
export type UpdateLocationInput = z.infer<typeof updateLocationInput>;

export const listLocationsInput = z
  .object({
    ...paging(50),
    search: searchText(200).describe('Part of a name or address, ignoring case.'),
    sortBy: z.enum(['name', 'createdAt']).default('name'),
    sortOrder: sortOrder.default('asc'),
  })
  .prefault({});
export type ListLocationsInput = z.infer<typeof listLocationsInput>;

export const locationsPage = z.object({ locations: z.array(location), ...pageTotals });
export const deleteLocationOutput = z.object({ success: z.literal(true), id: z.string() });
