import { z } from 'zod';
import { figureStatus, motorVehicles, parts, reason, speedOptions, units } from './figures.ts';
import { ONE_PLACE, onePlace, timezone, trafficPlace, trafficRange } from './traffic.ts';
import { speedUnitNames } from './values.ts';

// How closely vehicles follow each other, and how many of them are on a length of the road.

const { days, hours } = speedOptions;

export const headwaysInput = z
  .object({ ...trafficPlace, ...trafficRange, days, hours })
  .refine(onePlace, ONE_PLACE);
export type HeadwaysInput = z.infer<typeof headwaysInput>;

const seconds = z.number().nullable().describe('s, to 0.1; null without a headway.');
const share = z.number().nullable().describe('Share (0 to 1) of the headways, to four decimals.');

const headwayFigures = {
  n: z.number().describe('Number of headways.'),
  derived: z
    .number()
    .describe(
      'Number of these that are DERIVED: the sensor does not report headways, so that they are the times between two successive vehicles of the lane. None is derived behind a vehicle that is more than 20 minutes ahead, or was rejected.',
    ),
  mean: seconds,
  median: seconds,
  shareUnder2: share.describe('Share (0 to 1) of the headways of less than 2 s, to four decimals.'),
  shareUnder4: share.describe('Share (0 to 1) of the headways of less than 4 s, to four decimals.'),
  status: figureStatus,
  reason,
};

export const headways = z.object({
  timezone,
  vehicles: z.number().describe('Number of motor vehicles, with and without a headway.'),
  ...headwayFigures,
  lanes: z
    .array(
      z.object({
        sensorId: z.string(),
        direction: parts.direction,
        lane: parts.lane.describe(
          'Number or name of the lane. Absent if the sensor does not report lanes: then the headways are those of all vehicles of the direction.',
        ),
        ...headwayFigures,
      }),
    )
    .describe('By sensor, direction and lane.'),
});
export type HeadwaysOfPlace = z.infer<typeof headways>;

export const densityInput = z
  .object({
    ...trafficPlace,
    ...trafficRange,
    interval: z.enum(['5min', '15min', '60min']).default('15min'),
    units: units.describe(
      'KMH: km/h, and vehicles per km and lane. MPH: mph, and vehicles per mile and lane. By default those of the location, and otherwise those of the service (`SPEED_UNITS`).',
    ),
    fieldLength: z
      .number()
      .min(1)
      .max(50)
      .optional()
      .describe(
        'The length of the detection field and of a mean vehicle together, in metres (a loop of 2 m and vehicles of 4.7 m: 6.7). With it, the density of lanes without speeds is computed from their occupancy.',
      ),
  })
  .refine(onePlace, ONE_PLACE);
export type DensityInput = z.infer<typeof densityInput>;

const densityFigures = {
  flow: z
    .number()
    .nullable()
    .describe('Vehicles per hour of the known time, rounded; null if nothing is known.'),
  measured: z.number().describe('Number of motor vehicles with a speed.'),
  spaceMeanSpeed: z
    .number()
    .nullable()
    .describe('The harmonic mean of the speeds, n / Σ(1 / v), in the units, to 0.1; null without a speed.'),
  occupancy: z
    .number()
    .nullable()
    .describe(
      'Percent of the time in which a vehicle was on the detector, to 0.1. Read with `fieldLength` only.',
    ),
  density: z
    .number()
    .nullable()
    .describe('Vehicles per km (MPH: per mile) and lane, to 0.1; null if it cannot be given.'),
  basis: z
    .enum(['SPEEDS', 'OCCUPANCY'])
    .nullable()
    .describe(
      'SPEEDS: flow divided by the space mean speed. OCCUPANCY: occupancy divided by the length of the field.',
    ),
  reason,
};

export const density = z.object({
  timezone,
  interval: z.enum(['5min', '15min', '60min']),
  units: z.enum(speedUnitNames),
  lanes: z
    .number()
    .nullable()
    .describe(
      'Number of lanes: those of the counts if every vehicle has one, otherwise those of the measuring points; null if it is not known.',
    ),
  bins: z.array(
    z.object({
      start: z.date(),
      end: z.date().describe('Exclusive.'),
      status: figureStatus,
      coverage: z.number().describe('Share (0 to 1) of the interval with known counts.'),
      volume: motorVehicles,
      ...densityFigures,
      byLane: z
        .array(z.object({ direction: parts.direction, lane: parts.lane, ...densityFigures }))
        .describe('Those of each lane that is reported.'),
    }),
  ),
});
export type DensityOfPlace = z.infer<typeof density>;
