import { z } from 'zod';
import { caseFold } from './case-fold.ts';
import { type Corridor, checkCorridor, positions } from './corridors.ts';
import { id } from './id.ts';
import { direction, lane } from './movements.ts';
import { PLATE_RULES } from './plate.ts';
import { plateRegion } from './plate-regions.ts';
import { trimmedText } from './text.ts';
import { type eventFilterNames, eventTypes, severities } from './values.ts';

// The filters of events: of lists, streams, reports and, as far as they make sense there, webhooks.

/** A filter text, trimmed as stored texts are. A blank text means no filter. */
export function filterText(max: number) {
  return trimmedText(max)
    .transform((value) => value || undefined)
    .optional();
}

const PERCENT = 'Use a whole number from 0 to 100, in percent';
export const percent = z.int(PERCENT).min(0, PERCENT).max(100, PERCENT);

/** The highest speed that an event may have, in km/h. */
export const MAX_SPEED = 2000;
const SPEED = `Use a speed from 0 to ${MAX_SPEED}, in km/h`;
const speed = z.number(SPEED).min(0, SPEED).max(MAX_SPEED, SPEED);
const EXCESS = `Use km/h above the limit, from 0 to ${MAX_SPEED}`;

/** A list of values without repetitions; an empty one means no filter, as a blank text does. */
function someOf<Item extends z.ZodType>(item: Item, most: number, message: string) {
  return z
    .array(item)
    .max(most, message)
    .transform((values) => (values.length === 0 ? undefined : [...new Set(values)]))
    .optional();
}

/** Maximum number of tags in a filter. */
const MAX_TAGS = 20;
const TAGS = `Name at most ${MAX_TAGS} tags, each of at most 40 characters`;
const HOURS = 'Name hours from 0 to 23, each once';
const WEEKDAYS = 'Name days from 0 (Sunday) to 6 (Saturday), each once';
const SEVERITIES = `Name some of ${severities.join(', ')}, each once`;

/** The filters of events by how a vehicle passed and its plate was read. */
export const passageFilters = {
  plateRegion: plateRegion
    .optional()
    .describe('Where the plate is from, such as AT or US-CA; US stands for all its parts.'),
  minConfidence: percent
    .optional()
    .describe('How sure the sensor is of the plate, in percent, at least. Events without this are left out.'),
  lane: lane.optional().describe('The number of the lane, or its name, as reported.'),
  direction: direction.optional().describe('As reported.'),
  minSpeed: speed.optional().describe('The speed in km/h, at least. Events without a speed are left out.'),
  maxSpeed: speed.optional().describe('The speed in km/h, at most. Events without a speed are left out.'),
};
export const passageFilterNames = Object.keys(passageFilters) as (keyof typeof passageFilters)[];

/** The filters of events by what holds at their place and time. */
export const placeFilters = {
  minExcess: z
    .number(EXCESS)
    .min(0, EXCESS)
    .max(MAX_SPEED, EXCESS)
    .optional()
    .describe(
      'How far the speed is above the limit of the location at the time of the event, in km/h, at least; 0 is at the limit. Events without a speed, and at places without a limit, are left out.',
    ),
  hours: someOf(z.int(HOURS).min(0, HOURS).max(23, HOURS), 24, HOURS).describe(
    "The hours of the day in the service's time zone, such as [22, 23, 0, 1]. An hour that the clocks repeat counts both times.",
  ),
  weekdays: someOf(z.int(WEEKDAYS).min(0, WEEKDAYS).max(6, WEEKDAYS), 7, WEEKDAYS).describe(
    "The days of the week in the service's time zone: 0 = Sunday … 6 = Saturday.",
  ),
  sensorTags: someOf(trimmedText(40, 1).transform(caseFold), MAX_TAGS, TAGS).describe(
    'Tags, ignoring case: events of the sensors that have any of them now.',
  ),
  road: filterText(100).describe('Events at the locations on this road, ignoring case.'),
  ...positions,
};

export const placeFilterNames = Object.keys(placeFilters) as (keyof typeof placeFilters)[];

/** The filters of events. */
export const eventFilters = {
  eventType: z.enum(eventTypes).optional(),
  sensorId: id.optional(),
  processed: z.boolean().optional(),
  archived: z.boolean().optional(),
  violationType: filterText(200),
  licensePlateNumber: filterText(200).describe(PLATE_RULES),
  vehicleType: filterText(200),
  locationName: filterText(300),
  severities: someOf(z.enum(severities, SEVERITIES), severities.length, SEVERITIES).describe(
    'Events of any of these severities.',
  ),
  ...passageFilters,
  ...placeFilters,
} satisfies Record<(typeof eventFilterNames)[number], z.ZodType>;

type Ranges = Corridor & Partial<Record<'minSpeed' | 'maxSpeed', number | undefined>>;

/**
 * Refuses filters that contradict each other, which would find nothing.
 * @param path of the filters within the input
 */
export function checkEventFilters(
  { minSpeed, maxSpeed, ...place }: Ranges,
  ctx: { addIssue(issue: { code: 'custom'; path: PropertyKey[]; message: string }): void },
): void {
  if (minSpeed !== undefined && maxSpeed !== undefined && minSpeed > maxSpeed) {
    const message = 'The highest speed is below the lowest: swap minSpeed and maxSpeed';
    ctx.addIssue({ code: 'custom', path: ['maxSpeed'], message });
  }
  checkCorridor(place, ctx);
}
