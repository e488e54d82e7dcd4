import { z } from 'zod';
import { id } from './id.ts';
import { trimmedText } from './text.ts';
import { timeInput } from './time.ts';
import { trafficIntervals } from './values.ts';

export const trafficInterval = z.enum(trafficIntervals);
export type TrafficInterval = z.infer<typeof trafficInterval>;

const range = {
  startDate: timeInput.describe(
    "Start, inclusive. A plain date is the start of that day in the service's time zone. The interval that it falls into counts whole.",
  ),
  endDate: timeInput.describe(
    "End, inclusive. A plain date is the end of that day in the service's time zone, and a time to the minute or second the end of it. The interval that it falls into counts whole.",
  ),
};

function onePlace(input: { sensorId?: string | undefined; locationId?: string | undefined }): boolean {
  return (input.sensorId === undefined) !== (input.locationId === undefined);
}
const ONE_PLACE = { path: ['sensorId'], message: 'Give either a sensorId or a locationId' };

const place = {
  sensorId: id.optional().describe('Everything that this sensor saw, wherever it stood.'),
  locationId: id
    .optional()
    .describe('Everything that was seen here, including by sensors that have been moved since.'),
};
const vehicleType = trimmedText(100)
  .transform((value) => value || undefined)
  .optional()
  .describe('Only vehicles of this type, without regard to case.');

export const flowInput = z
  .object({ ...place, interval: trafficInterval.default('60min'), ...range, vehicleType })
  .refine(onePlace, ONE_PLACE);
export type FlowInput = z.infer<typeof flowInput>;

export const speedDistributionInput = z
  .object({ ...place, ...range, vehicleType, binWidth: z.int().min(1).max(50).default(5).describe('km/h') })
  .refine(onePlace, ONE_PLACE);
export type SpeedDistributionInput = z.infer<typeof speedDistributionInput>;

export const hourOfWeekInput = z.object({ ...place, ...range, vehicleType }).refine(onePlace, ONE_PLACE);
export type HourOfWeekInput = z.infer<typeof hourOfWeekInput>;

const speed = z.number().nullable();
const percentile = speed.describe('km/h; less than 1 km/h off the exact percentile.');
const shareOverLimit = z
  .number()
  .nullable()
  .describe(
    'Share (0 to 1) of vehicles with a speed that exceeded the speed limit of the location at that time. A limit is rounded up to whole km/h (50.5 to 51). A change of the limit applies from the start of the five-minute slot in which it was made. Vehicles without a limit are excluded; null if there are no others.',
  );
const speedLimit = z.number().nullable().describe('The current speed limit of the location, in km/h.');
const timezone = z.string().describe('The time zone of the service, which applies to hours and days.');

/** Speed percentiles: V85 is the speed that 85 % of the vehicles did not exceed. */
const percentiles = { v15: percentile, v50: percentile, v85: percentile, v95: percentile };

const volumeOfType = z.object({
  vehicleType: z.string().nullable().describe('null for vehicles without a type.'),
  volume: z.number().describe('Number of vehicles.'),
});

const completeness = z
  .number()
  .describe(
    'Share (0 to 1) of the time for which traffic is known. A sensor covers the five-minute slots in which it saw anything, and the time in which it was ONLINE according to its status history while the service was running; otherwise it was silent. Time whose counts retention has removed is not covered. For a location, this is the mean over the sensors that stood there at that time. The future is excluded.',
  );
const volume = z
  .number()
  .nullable()
  .describe(
    'Number of vehicles: events of every type except INCIDENT. null is a gap: all sensors were silent. 0 means no traffic.',
  );

export const flowPoint = z.object({
  start: z.date(),
  end: z.date().describe('Exclusive.'),
  volume,
  meanSpeed: speed.describe('km/h'),
  ...percentiles,
  shareOverLimit,
  byVehicleType: z.array(volumeOfType).describe('Most frequent first; types that were not seen are omitted.'),
  completeness,
});
export type FlowPoint = z.infer<typeof flowPoint>;

export const flow = z.object({
  timezone,
  interval: trafficInterval,
  points: z.array(flowPoint),
  volume,
  meanSpeed: speed.describe('km/h'),
  ...percentiles,
  shareOverLimit,
  byVehicleType: z.array(volumeOfType),
  completeness,
  peakHour: z
    .object({ start: z.date(), volume: z.number().describe('Number of vehicles.') })
    .nullable()
    .describe(
      'The busiest hour that begins on the hour; the first of several. null if there was no traffic.',
    ),
  peakHourFactor: z
    .number()
    .nullable()
    .describe(
      'Volume of the peak hour divided by four times the volume of its busiest 15 minutes (Highway Capacity Manual). 0.25: all within 15 minutes; 1: evenly distributed.',
    ),
  speedLimit,
});
export type Flow = z.infer<typeof flow>;

export const speedDistribution = z.object({
  timezone,
  volume: z.number().describe('Number of vehicles, with and without a speed.'),
  measured: z.number().describe('Number of vehicles with a speed, to which all other figures refer.'),
  bins: z
    .array(
      z.object({
        from: z
          .number()
          .describe('Lower bound in km/h, exclusive; stationary vehicles are in the first bin.'),
        to: z.number().describe('Upper bound in km/h, inclusive.'),
        count: z.number().describe('Number of items.'),
      }),
    )
    .describe(
      'Number of vehicles faster than `from` and at most as fast as `to` (km/h); stationary vehicles are in the first bin. In ascending order, without gaps.',
    ),
  meanSpeed: speed.describe('km/h'),
  ...percentiles,
  shareOverLimit,
  completeness,
  speedLimit,
});
export type SpeedDistribution = z.infer<typeof speedDistribution>;

export const hourOfWeek = z.object({
  timezone,
  days: z
    .array(
      z.object({
        weekday: z.number().describe('0 = Sunday … 6 = Saturday, as in every procedure.'),
        hours: z.array(
          z.object({
            hour: z.number().describe('0 … 23, local'),
            hours: z.number().describe('Number of these hours that have ended and were not gaps.'),
            meanVolume: z
              .number()
              .nullable()
              .describe('Vehicles per hour over those hours; null if there are none.'),
            meanSpeed: speed.describe('km/h, over all vehicles with a speed.'),
          }),
        ),
      }),
    )
    .describe('Seven days of 24 hours.'),
});
export type HourOfWeek = z.infer<typeof hourOfWeek>;

export const trafficLevel = z.enum(['FREE', 'BUSY', 'CONGESTED', 'NO_DATA']);
export type TrafficLevel = z.infer<typeof trafficLevel>;

/** The levels of traffic in descending order, each with the lowest ratio of the mean speed to the usual speed. */
export const LEVELS = [
  { from: 0.75, level: 'FREE' },
  { from: 0.5, level: 'BUSY' },
  { from: 0, level: 'CONGESTED' },
] as const satisfies readonly { from: number; level: TrafficLevel }[];

export const liveTraffic = z.object({
  since: z.date().describe('Start of the counted period: five clock minutes, including the current one.'),
  locations: z.array(
    z.object({
      locationId: z.string(),
      locationName: z.string(),
      volume,
      meanSpeed: speed.describe('km/h'),
      usualSpeed: speed.describe(
        'Speed for comparison: the speed limit or, without one, the mean speed of the last seven days.',
      ),
      speedLimit,
      level: trafficLevel.describe(
        'Based on mean speed divided by usual speed: FREE from 0.75, BUSY from 0.5, CONGESTED below. A road without vehicles is FREE while a sensor is ONLINE. NO_DATA if no sensor is ONLINE, or there is nothing to compare with.',
      ),
    }),
  ),
});
export type LiveTraffic = z.infer<typeof liveTraffic>;

export const topLocationsInput = z.object({
  ...range,
  limit: z.int().min(1).max(100).default(10).describe('Maximum number of items to return.'),
  by: z.enum(['volume', 'meanSpeed', 'shareOverLimit']).default('volume'),
});
export type TopLocationsInput = z.infer<typeof topLocationsInput>;

export const topLocations = z.object({
  timezone,
  locations: z
    .array(
      z.object({
        locationId: z.string(),
        locationName: z.string(),
        volume: z.number().describe('Number of vehicles.'),
        meanSpeed: speed.describe('km/h'),
        shareOverLimit,
        speedLimit,
      }),
    )
    .describe('Locations with traffic, highest value first; those without a value last.'),
});
export type TopLocations = z.infer<typeof topLocations>;
