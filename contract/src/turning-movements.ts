import { z } from 'zod';
import { date, figureStatus, motorVehicles, peak, peakHourFactor, peakWindows } from './figures.ts';
import { ONE_PLACE, onePlace, timezone, trafficPlace, trafficRange } from './traffic.ts';
import { legs, turns } from './values.ts';

// The turning movement count of an intersection.

const interval = z.enum(['15min', '60min', 'day']);

export const turningMovementsInput = z
  .object({
    ...trafficPlace,
    ...trafficRange,
    interval: interval.default('15min').describe('Of `bins`. Peaks are always those of quarter hours.'),
    windows: peakWindows,
  })
  .refine(onePlace, ONE_PLACE);
export type TurningMovementsInput = z.infer<typeof turningMovementsInput>;

const leg = z.enum(legs);
const motor = z.number().describe('Number of motor vehicles.');
const pedestrians = z.number().describe('Number of pedestrians.');
const bicycles = z.number().describe('Number of bicycles.');
const byLeg = z.array(z.object({ leg, volume: z.number().describe('Number of road users.') }));

const movement = z.object({
  from: leg.describe('The leg that vehicles come from.'),
  turn: z.enum(turns).describe('Left, through, right, or back (U).'),
  volume: motor,
  peakHourFactor: peakHourFactor
    .optional()
    .describe(
      'Of the movement in the peak hour of the intersection, to four decimals; only in `peaks`, and null without a vehicle.',
    ),
  byClass: z
    .array(z.object({ class: z.string(), volume: motor }))
    .describe('Of those with a class, by its code.'),
});

const totals = {
  movements: z
    .array(movement)
    .describe('Those that were made in the range, by leg (clockwise from N) and turn (L, T, R, U).'),
  approaches: byLeg.describe(
    'Motor vehicles by the leg that they come from, also those whose turn is not known.',
  ),
  exits: byLeg.describe(
    'Motor vehicles by the leg through which they leave, if turns are at right angles. Those whose turn is not known are in none.',
  ),
  volume: motor,
  pedestrians,
  bicycles,
  pedestriansByLeg: byLeg,
  bicyclesByLeg: byLeg,
};

const { by: _, ...hour } = peak;

export const turningMovements = z.object({
  timezone,
  interval,
  bins: z.array(
    z.object({
      start: z.date(),
      end: z.date().describe('Exclusive.'),
      status: figureStatus,
      coverage: z.number().describe('Share (0 to 1) of the interval with known counts, to four decimals.'),
      volume: motorVehicles,
      movements: z.array(movement).describe('Without those that were not made.'),
      pedestrians,
      bicycles,
    }),
  ),
  total: z.object(totals),
  peaks: z
    .array(z.object({ date, ...hour, ...totals, start: z.date().nullable(), end: z.date().nullable() }))
    .describe('The peak hours of every day that has one, as of traffic.getPeakHours.'),
});
export type TurningMovementsOfPlace = z.infer<typeof turningMovements>;
