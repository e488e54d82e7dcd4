import { z } from 'zod';
import { id } from './id.ts';
import { trimmedText } from './text.ts';
import { timeInput } from './time.ts';
import { speedUnitNames, trafficIntervals } from './values.ts';

export const trafficInterval = z.enum(trafficIntervals);
export type TrafficInterval = z.infer<typeof trafficInterval>;

/** The bounds of a question about traffic. */
export const trafficRange = {
  startDate: timeInput.describe(
    "Start, inclusive. A plain date is the start of that day in the service's time zone. The interval that it falls into counts whole.",
  ),
  endDate: timeInput.describe(
    "End, inclusive. A plain date is the end of that day in the service's time zone, and a time to the minute or second the end of it. The interval that it falls into counts whole.",
  ),
};

export const trafficPlace = {
  sensorId: id
    .optional()
    .describe('Everything that this sensor saw, wherever it stood and for whatever it was assigned.'),
  locationId: id
    .optional()
    .describe(
      'Everything that was seen here, including by sensors that have been moved since. While sensors are assigned to its measuring points, the sum of these.',
    ),
  pointId: id
    .optional()
    .describe(
      'What the sensors assigned to this measuring point counted. For a location for which none is entered, the id of the location.',
    ),
};

/** Whether the input names exactly one place. */
export function onePlace(
  input: { readonly [Name in keyof typeof trafficPlace]?: string | undefined },
): boolean {
  return (
    [input.sensorId, input.locationId, input.pointId].filter((given) => given !== undefined).length === 1
  );
}
export const ONE_PLACE = {
  path: ['sensorId'],
  message: 'Give either a sensorId or a locationId or a pointId',
};

const vehicleType = trimmedText(100)
  .transform((value) => value || undefined)
  .optional()
  .describe('Only vehicles of this type, without regard to case.');

export const flowInput = z
  .object({ ...trafficPlace, interval: trafficInterval.default('60min'), ...trafficRange, vehicleType })
  .refine(onePlace, ONE_PLACE);
export type FlowInput = z.infer<typeof flowInput>;

export const speedDistributionInput = z
  .object({
    ...trafficPlace,
    ...trafficRange,
    vehicleType,
    binWidth: z.int().min(1).max(50).default(5).describe('km/h'),
  })
  .refine(onePlace, ONE_PLACE);
export type SpeedDistributionInput = z.infer<typeof speedDistributionInput>;

export const hourOfWeekInput = z
  .object({ ...trafficPlace, ...trafficRange, vehicleType })
  .refine(onePlace, ONE_PLACE);
export type HourOfWeekInput = z.infer<typeof hourOfWeekInput>;

const speed = z.number().nullable();
const percentile = speed.describe(
  'km/h, to 0.1, interpolated between ranks. Exact for devices that report whole km/h or mph; otherwise some 0.1 km/h off for thousands of vehicles, and less than 1 km/h for fewer than 200 (`traffic.getSpeedStudy` is exact). null from fewer than 30 measured vehicles.',
);
const shareOverLimit = z
  .number()
  .nullable()
  .describe(
    'Share (0 to 1) of vehicles with a speed that exceeded the speed limit of the location at that time. A limit is rounded up to whole km/h (50.5 to 51). A change of the limit applies from the start of the five-minute slot in which it was made. Vehicles without a limit are excluded; null if there are no others.',
  );
const units = z
  .enum(speedUnitNames)
  .describe(
    'The units of the place, or else of the service (`SPEED_UNITS`), in which the console and reports show its speeds. Those here are in km/h.',
  );
const speedLimit = z.number().nullable().describe('The current speed limit of the location, in km/h.');
export const timezone = z.string().describe('The time zone of the service, which applies to hours and days.');

/** Speed percentiles: V85 is the speed that 85 % of the vehicles did not exceed. */
const percentiles = { v15: percentile, v50: percentile, v85: percentile, v95: percentile };

const volumeOfType = z.object({
  vehicleType: z.string().nullable().describe('null for vehicles without a type.'),
  volume: z.number().describe('Number of vehicles.'),
});

const completeness = z
  .number()
  .describe(
    'Share (0 to 1) of the time for which traffic is known. A sensor covers the five-minute slots in which it saw anything, silence of at most 20 minutes between two of its events, the `observed` time of its batches, and the time in which it was ONLINE according to its status history while the service was running. One that counts intervals covers these, as far as `samples` says. Time whose counts retention has removed is not covered. For a location, this is the mean over the counting sensors that stood there at that time. The future is excluded.',
  );
const volume = z
  .number()
  .nullable()
  .describe(
    'Number of motor vehicles (with `vehicleType`: of vehicles of that type). A sensor counts the intervals that it counted itself (`counts.ingest`) if it ever sent one, otherwise its detections (VEHICLE_DETECTION, SPEED_DETECTION), and otherwise the plates that it read; a sensor that sends only other events counts nothing. If sensors of several types stand at a location, those of the type that covers most of the range count, all of them together; on a tie, of the type that measures speeds, and then of the first by name. While sensors are assigned to measuring points of the location, only these count (`assignments.create`). null is a gap: all counting sensors were silent. 0 means no traffic.',
  );
const measured = z
  .number()
  .describe(
    'Number of motor vehicles with a speed, of the counting sensors or, if they measure none, of the type of sensors that measures most; at a measuring point, of those that are assigned with the role SPEED. Speeds of at most 0 and above 250 km/h are ignored.',
  );
export const binStatus = z.enum([
  'VALID',
  'PROVISIONAL',
  'PARTIAL',
  'GAP',
  'EXCLUDED',
  'INSUFFICIENT',
  'IMPUTED',
]);
export type BinStatus = z.infer<typeof binStatus>;

/** What is known about an interval. */
const verdict = {
  measured,
  percentileStatus: z
    .enum(['VALID', 'INSUFFICIENT'])
    .describe('INSUFFICIENT: fewer than 30 vehicles were measured, so there are no percentiles.'),
  coverage: z
    .number()
    .describe(
      'Share (0 to 1) of the whole interval with known counts: unlike in `completeness`, time in which no sensor was there is not known.',
    ),
  isComplete: z.boolean().describe('Whether the interval is over, and at least 95 % of it is known.'),
  status: binStatus.describe(
    'VALID: complete. PROVISIONAL: not over. PARTIAL: over, and less than 95 % of it is known; the volume is the count of what is known. GAP: over, and nothing is known. EXCLUDED: all that is known was rejected, by a person or a rule (`traffic.getDataQuality`); what is rejected is in no figure. R1 does not reject here: time without a vehicle is known while the sensor works.',
  ),
};

export const coarser = z
  .literal('COARSER_DATA')
  .optional()
  .describe('Of a GAP: the interval is a part of a longer one that a detector counted (`counts.ingest`).');

export const flowPoint = z.object({
  start: z.date(),
  end: z.date().describe('Exclusive.'),
  volume,
  meanSpeed: speed.describe('km/h'),
  ...percentiles,
  shareOverLimit,
  byVehicleType: z
    .array(volumeOfType)
    .describe(
      'Most frequent first; types that were not seen are omitted. Pedestrians and bicycles are listed, but are not in the volume.',
    ),
  completeness,
  ...verdict,
  reason: coarser,
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
  ...verdict,
  peakHour: z
    .object({ start: z.date(), volume: z.number().describe('Number of vehicles.') })
    .nullable()
    .describe(
      'The busiest four successive quarter hours that are VALID and wholly in the range; the first of several. null if there are none with traffic.',
    ),
  peakHourFactor: z
    .number()
    .nullable()
    .describe(
      'Volume of the peak hour divided by four times the volume of its busiest 15 minutes (Highway Capacity Manual). 0.25: all within 15 minutes; 1: evenly distributed. null without a peak hour.',
    ),
  speedLimit,
  units,
});
export type Flow = z.infer<typeof flow>;

export const speedDistribution = z.object({
  timezone,
  volume: z.number().describe('Number of motor vehicles, with and without a speed.'),
  measured: measured.describe('Number of vehicles with a speed, to which all other figures refer.'),
  percentileStatus: verdict.percentileStatus,
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
            hours: z
              .number()
              .describe('Number of these hours that have ended and of which at least 75 % are known.'),
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
      measured,
      meanSpeed: speed.describe('km/h'),
      usualSpeed: speed.describe(
        'Speed for comparison: the speed limit or, without one, the mean speed of the last seven days, without days of sensors with data that a rule or a person rejected.',
      ),
      speedLimit,
      units,
      level: trafficLevel.describe(
        'From 5 measured motor vehicles on, based on mean speed divided by usual speed: FREE from 0.75, BUSY from 0.5, CONGESTED below, and NO_DATA if there is nothing to compare with. With fewer, FREE while a counting sensor is ONLINE, and otherwise NO_DATA. Counts of intervals (`counts.ingest`) come too late: where all sensors send these, the volume is null.',
      ),
    }),
  ),
});
export type LiveTraffic = z.infer<typeof liveTraffic>;

export const topLocationsInput = z.object({
  ...trafficRange,
  limit: z.int().min(1).max(100).default(10).describe('Maximum number of items to return.'),
  by: z.enum(['volume', 'meanSpeed', 'shareOverLimit']).default('volume'),
  minimumVolume: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(30)
    .describe('By speed or share, only locations with so many measured vehicles are ranked.'),
});
export type TopLocationsInput = z.infer<typeof topLocationsInput>;

export const topLocations = z.object({
  timezone,
  locations: z
    .array(
      z.object({
        locationId: z.string(),
        locationName: z.string(),
        volume: z.number().describe('Number of motor vehicles.'),
        measured,
        meanSpeed: speed.describe('km/h'),
        shareOverLimit,
        speedLimit,
        units,
      }),
    )
    .describe(
      'Locations with traffic, highest value first; those without a value last. Days that rules have not judged yet, such as the present one, count as they were sent.',
    ),
});
export type TopLocations = z.infer<typeof topLocations>;
