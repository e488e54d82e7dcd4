import { z } from 'zod';
import { id } from './id.ts';
import { trimmedText } from './text.ts';
import { timeInput } from './time.ts';

/** Most intervals that one answer may have. */
export const MAX_POINTS = 10_000;

export const trafficInterval = z.enum(['5min', '15min', '60min', 'day']);
export type TrafficInterval = z.infer<typeof trafficInterval>;

const range = {
  startDate: timeInput.describe(
    "Start, inclusive. A plain date is the start of that day in the service's time zone. The interval that it falls into counts whole.",
  ),
  endDate: timeInput.describe(
    "End, inclusive. A plain date is the end of that day in the service's time zone, and a time to the minute or second the end of it. The interval that it falls into counts whole.",
  ),
};

const onePlace = (input: { sensorId?: string | undefined; locationId?: string | undefined }): boolean =>
  (input.sensorId === undefined) !== (input.locationId === undefined);
const ONE_PLACE = { path: ['sensorId'], message: 'Give either a sensorId or a locationId' };

const place = {
  sensorId: id.optional().describe('Everything that this sensor saw, wherever it stood.'),
  locationId: id
    .optional()
    .describe('Everything that was seen here, also by sensors that stand elsewhere by now.'),
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
    'Share (0 to 1) of the vehicles with a speed that were quicker than the speed limit that held at the location then. A limit counts as the next whole km/h upwards (50.5 as 51); a change counts from the five minutes of the clock on in which it was made. Vehicles without a limit are left out; null without any other.',
  );
const speedLimit = z.number().nullable().describe('The present one of the location, in km/h.');
const timezone = z.string().describe('The time zone of the service, in which hours and days are meant.');

/** Speeds at which so many of the vehicles were at most: V85 is the speed that 85 % kept to. */
const percentiles = { v15: percentile, v50: percentile, v85: percentile, v95: percentile };

const volumeOfType = z.object({
  vehicleType: z.string().nullable().describe('null: vehicles without a type.'),
  volume: z.number(),
});

const completeness = z
  .number()
  .describe(
    'Share (0 to 1) of the time in which it is known what passed. A sensor covers the five minutes of the clock in which it saw anything, and the time in which it was ONLINE by its status history; without both it was silent, and of what retention has removed nothing is known. Of a location: the mean over the sensors that stood there then. The future counts for nothing.',
  );
const volume = z
  .number()
  .nullable()
  .describe(
    'Vehicles that passed: events of every type but INCIDENT. null is a gap: all sensors were silent. 0 is a road without traffic.',
  );

export const flowPoint = z.object({
  start: z.date(),
  end: z.date().describe('Exclusive.'),
  volume,
  meanSpeed: speed.describe('km/h'),
  ...percentiles,
  shareOverLimit,
  byVehicleType: z
    .array(volumeOfType)
    .describe('The most frequent first; types that were not seen are left out.'),
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
    .object({ start: z.date(), volume: z.number() })
    .nullable()
    .describe('The busiest hour that begins on the hour; of several the first. null when nothing passed.'),
  peakHourFactor: z
    .number()
    .nullable()
    .describe(
      'Volume of the peak hour over four times the volume of its busiest 15 minutes (Highway Capacity Manual): 0.25 all at once, 1 even.',
    ),
  speedLimit,
});
export type Flow = z.infer<typeof flow>;

export const speedDistribution = z.object({
  timezone,
  volume: z.number().describe('Vehicles that passed, with and without a speed.'),
  measured: z.number().describe('Vehicles with a speed: those that the rest is about.'),
  bins: z
    .array(z.object({ from: z.number(), to: z.number(), count: z.number() }))
    .describe(
      'How many were quicker than `from` and at most as quick as `to` (km/h); those that stood are in the first one. From the slowest to the quickest without gaps.',
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
        weekday: z.number().describe('1 Monday … 7 Sunday'),
        hours: z.array(
          z.object({
            hour: z.number().describe('0 … 23, local'),
            hours: z.number().describe('How many such hours were not gaps.'),
            meanVolume: z
              .number()
              .nullable()
              .describe('Vehicles an hour, over those hours; null without any.'),
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

/** From which part of the usual speed on a road is free, or still busy; below that it is congested. */
export const LEVELS = [
  { from: 0.75, level: 'FREE' },
  { from: 0.5, level: 'BUSY' },
  { from: 0, level: 'CONGESTED' },
] as const satisfies readonly { from: number; level: TrafficLevel }[];

export const liveTraffic = z.object({
  since: z
    .date()
    .describe('Start of the five minutes of the clock, the present one included, that are counted.'),
  locations: z.array(
    z.object({
      locationId: z.string(),
      locationName: z.string(),
      volume,
      meanSpeed: speed.describe('km/h'),
      usualSpeed: speed.describe(
        'What it is compared with: the speed limit, else the mean speed of the last seven days.',
      ),
      speedLimit,
      level: trafficLevel.describe(
        'By mean speed over usual speed: FREE from 0.75 on, BUSY from 0.5 on, CONGESTED below. A road without vehicles is FREE while a sensor is ONLINE. NO_DATA when no sensor is, or there is nothing to compare.',
      ),
    }),
  ),
});
export type LiveTraffic = z.infer<typeof liveTraffic>;

export const topLocationsInput = z.object({
  ...range,
  limit: z.int().min(1).max(100).default(10),
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
        volume: z.number(),
        meanSpeed: speed.describe('km/h'),
        shareOverLimit,
        speedLimit,
      }),
    )
    .describe('Those where anything passed, the highest first, without a value last.'),
});
export type TopLocations = z.infer<typeof topLocations>;
