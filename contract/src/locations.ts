import { z } from 'zod';
import { coordinates, coordinatesInput } from './coordinates.ts';
import { checkCorridor, corridor } from './corridors.ts';
import { id } from './id.ts';
import { MAX_LANES } from './movements.ts';
import { pageTotals, paging, sortOrder } from './page.ts';
import { editableText, optionalText, searchText, trimmedText } from './text.ts';
import { timeInput } from './time.ts';
import { pointDirections, speedUnitNames } from './values.ts';

const speedUnits = z.enum(speedUnitNames);

/** A place with sensors. */
export const location = z.object({
  id: z.string(),
  name: z.string(),
  address: z.string(),
  coordinates: coordinates.nullable(),
  description: z.string().nullable(),
  speedLimit: z.number().nullable().describe('km/h'),
  road: z.string().nullable().describe('The name or number of the road, such as A2.'),
  kilometre: z.number().nullable().describe('The position along the road, in km.'),
  direction: z.enum(pointDirections).nullable().describe('The direction of travel of the carriageway.'),
  lanes: z.number().nullable().describe('Number of lanes.'),
  hasShoulder: z.boolean().nullable().describe('Whether the carriageway has a hard shoulder.'),
  sensorCount: z.number().describe('Number of sensors.'),
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type Location = z.infer<typeof location>;

/** A location as it is read alone. */
export const locationInFull = location.extend({
  speedUnits: speedUnits
    .nullable()
    .describe('The units in which its speeds are studied; null for those of the service (`SPEED_UNITS`).'),
});
export type LocationInFull = z.infer<typeof locationInFull>;

const name = trimmedText(100, 1);
const address = trimmedText(300);
const speedLimit = z.number().min(1).max(400);
const road = optionalText(100).describe('The name or number of the road, such as A2.');
const KILOMETRE = 'Use the position along the road in km, from -99999.999 to 99999.999';
const kilometre = z
  .number(KILOMETRE)
  .min(-99_999.999, KILOMETRE)
  .max(99_999.999, KILOMETRE)
  .transform((value) => Math.round(value * 1000) / 1000);
const KILOMETRES = 'The position along the road, in km, stored to 0.001. It may be negative.';
const direction = z
  .enum(pointDirections, `Use ${pointDirections.join(', ')}`)
  .describe('The direction of travel of the carriageway: NB is travelling north.');
const LANES = `Use the number of lanes, from 1 to ${MAX_LANES}`;
const lanes = z.int(LANES).min(1, LANES).max(MAX_LANES, LANES);
const hasShoulder = z.boolean().describe('Whether the carriageway has a hard shoulder.');
const unitsOfPlace = speedUnits.describe(
  'The units in which the speeds of the place are studied unless a question names others. null: those of the service (`SPEED_UNITS`). The limit stays in km/h.',
);

export const createLocationInput = z.object({
  name,
  address: address.default(''),
  coordinates: coordinatesInput.nullish().transform((value) => value ?? null),
  description: optionalText(2000),
  speedLimit: speedLimit
    .nullish()
    .transform((value) => value ?? null)
    .describe('km/h.'),
  road,
  kilometre: kilometre
    .nullish()
    .transform((value) => value ?? null)
    .describe(KILOMETRES),
  direction: direction.nullish().transform((value) => value ?? null),
  lanes: lanes
    .nullish()
    .transform((value) => value ?? null)
    .describe('Number of lanes.'),
  hasShoulder: hasShoulder.nullish().transform((value) => value ?? null),
  speedUnits: unitsOfPlace.nullish().transform((value) => value ?? null),
});
export type CreateLocationInput = z.infer<typeof createLocationInput>;

export const updateLocationInput = z.object({
  id,
  name: name.optional(),
  address: address.optional(),
  coordinates: coordinatesInput.nullable().optional(),
  description: editableText(2000),
  speedLimit: speedLimit.nullable().optional().describe('km/h.'),
  road: editableText(100).describe('The name or number of the road, such as A2.'),
  kilometre: kilometre.nullable().optional().describe(KILOMETRES),
  direction: direction.nullable().optional(),
  lanes: lanes.nullable().optional().describe('Number of lanes.'),
  hasShoulder: hasShoulder.nullable().optional(),
  speedUnits: unitsOfPlace.nullable().optional(),
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
    ...corridor,
    sortBy: z.enum(['name', 'createdAt', 'kilometre']).default('name'),
    sortOrder: sortOrder.default('asc'),
  })
  .superRefine(checkCorridor)
  .prefault({});
export type ListLocationsInput = z.infer<typeof listLocationsInput>;

export const locationsPage = z.object({ locations: z.array(location), ...pageTotals });
export const roadsOutput = z.array(
  z.object({ road: z.string(), locations: z.number().describe('Number of locations.') }),
);
export const deleteLocationOutput = z.object({ success: z.literal(true), id: z.string() });
