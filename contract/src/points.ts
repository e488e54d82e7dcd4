import { z } from 'zod';
import { eventType } from './events.ts';
import { id } from './id.ts';
import { direction, LANE_NAME_MAX, lane, MAX_LANES, movement } from './movements.ts';
import { pageTotals, paging } from './page.ts';
import { optionalText, searchText, text, trimmedText } from './text.ts';
import { timeInput } from './time.ts';
import { legs, pointDirections, speedUnitNames, turns } from './values.ts';

// Measuring points (the cross-sections at which traffic is counted), and which channels of which sensors count there.

export const facilities = [
  'MAINLINE',
  'RAMP_ON',
  'RAMP_OFF',
  'HOV',
  'BUS',
  'CYCLE',
  'CROSSWALK',
  'LEG',
] as const;
export const roadSettings = ['URBAN', 'RURAL'] as const;
export const assignmentRoles = ['COUNT', 'SPEED', 'CLASS', 'PLATE', 'VERIFY'] as const;

/** Maximum number of measuring points of one location. */
export const MAX_MEASURING_POINTS = 100;
/** Maximum number of assignments of one measuring point. */
export const MAX_ASSIGNMENTS = 500;

const DIRECTION = `Use ${pointDirections.join(', ')}`;
const BEARING = 'Use whole degrees from 0 (north) to 359, clockwise; 360 is 0';
const LANES = `Use the number of lanes, from 1 to ${MAX_LANES}`;
const ANGLE = 'Use the angle between the beam and the direction of travel, in degrees from 0 to 80';

const pointDirection = z
  .enum(pointDirections, DIRECTION)
  .describe('The direction of travel: NB is travelling north, CW is clockwise on a ring.');
const bearing = z
  .int(BEARING)
  .min(0, BEARING)
  .max(359, BEARING)
  .nullish()
  .describe('The direction of travel in whole degrees clockwise from north. Less than 90° from `direction`.');
const lanes = z.int(LANES).min(1, LANES).max(MAX_LANES, LANES).nullish().describe('Number of lanes.');
const facility = z.enum(facilities);
const setting = z.enum(roadSettings);
const role = z
  .enum(assignmentRoles)
  .describe(
    'COUNT: its passages are the volume of the point. SPEED: speeds are measured by it; without one, by the sensors that count. VERIFY: it is compared with what counts. CLASS and PLATE say what else the sensor is for. Only COUNT counts.',
  );
const countedTypes = z
  .array(eventType)
  .min(1, 'Name at least one event type')
  .max(10)
  .refine((types) => !types.includes('INCIDENT'), 'An INCIDENT is no passage of a vehicle: leave it out')
  .refine((types) => new Set(types).size === types.length, 'Name every event type once')
  .describe(
    'The types of events that stand for a passage. null: as for a sensor without an assignment, the intervals that it counts if it ever sent one, otherwise its detections, otherwise plates.',
  );
const correctionAngle = z
  .number(ANGLE)
  .min(0, ANGLE)
  .max(80, ANGLE)
  .describe(
    'The angle between the beam and the direction of travel, in degrees: a radar measures the speed times its cosine. Speeds are divided by the cosine when they are read.',
  );
const speedUnit = z
  .enum(speedUnitNames)
  .describe(
    'MPH: the device measures whole miles per hour, from which its km/h were converted; KMH: whole km/h. null: found out from the speeds.',
  );

const CHANNEL =
  'Use * for everything that the sensor sends, the direction or lane as it sends it, or a combination such as { direction: "RECEDING", lane: 2 }';

/**
 * A part of what a sensor reports: `*`, the direction, lane or movement as sent, or several of them as an object, which all
 * must agree. Numbers become text, so that 2 and "2" are one lane.
 */
export const channel = z.union(
  [
    z
      .union([z.string(), z.number()])
      .transform((name) => String(name).trim())
      .pipe(text(LANE_NAME_MAX, 1)),
    z
      .strictObject({
        direction: direction.optional().describe('The direction as sent.'),
        lane: lane.optional().describe('The lane as sent.'),
        movement: movement.optional(),
      })
      .refine((parts) => Object.values(parts).some((part) => part !== undefined), CHANNEL),
  ],
  CHANNEL,
);
export type Channel = z.infer<typeof channel>;

/** A channel as it is stored: texts that must be those of the passage. `name` is its direction, lane or movement. */
export interface StoredChannel {
  readonly name?: string;
  readonly direction?: string;
  readonly lane?: string;
  readonly movement?: string;
}

const from = (what: string) =>
  timeInput.nullable().optional().describe(`From when ${what}; may be in the past. null: always.`);
const until = timeInput
  .nullable()
  .optional()
  .describe('Until when, exclusive: a plain date is the start of that day. null: open.');

const validity = {
  validFrom: z.date().nullable().describe('null: always.'),
  validUntil: z.date().nullable().describe('Exclusive. null: open.'),
};

export const measuringPoint = z.object({
  id: z
    .string()
    .describe('A location without entered points has one point BOTH, whose id is that of the location.'),
  locationId: z.string(),
  name: z.string(),
  direction: pointDirection,
  bearing: z.number().nullable().describe('Degrees clockwise from north.'),
  lanes: z.number().nullable().describe('Number of lanes.'),
  facility,
  roadClass: z.string().nullable(),
  setting: setting.nullable(),
  ...validity,
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type MeasuringPoint = z.infer<typeof measuringPoint>;

const name = trimmedText(100, 1);
const nothing = <Value>(value: Value | null | undefined): Value | null => value ?? null;

export const createPointInput = z.object({
  locationId: id,
  name,
  direction: pointDirection.default('BOTH'),
  bearing: bearing.transform(nothing).describe(bearing.description ?? ''),
  lanes: lanes.transform(nothing).describe(lanes.description ?? ''),
  facility: facility.default('MAINLINE'),
  roadClass: optionalText(50),
  setting: setting.nullish().transform(nothing),
  validFrom: from('the point exists'),
  validUntil: until,
});
export type CreatePointInput = z.infer<typeof createPointInput>;

export const updatePointInput = z.object({
  id,
  name: name.optional(),
  direction: pointDirection.optional(),
  bearing,
  lanes,
  facility: facility.optional(),
  roadClass: trimmedText(50).nullable().optional(),
  setting: setting.nullable().optional(),
  validFrom: from('the point exists'),
  validUntil: until,
});
export type UpdatePointInput = z.infer<typeof updatePointInput>;

const at = timeInput.optional().describe('Only what is valid at this time.');

export const listPointsInput = z
  .object({
    ...paging(100),
    pointId: id.optional().describe('Only this point.'),
    locationId: id.optional().describe('Only points of this location.'),
    search: searchText(200).describe('Part of the name of a point or of its location, ignoring case.'),
    at,
  })
  .prefault({});
export type ListPointsInput = z.infer<typeof listPointsInput>;
/** A point with the name of its location. */
export const listedPoint = measuringPoint.extend({ locationName: z.string() });
export type ListedPoint = z.infer<typeof listedPoint>;
export const pointsPage = z.object({ points: z.array(listedPoint), ...pageTotals });

const shownDirection = z.union([z.string(), z.number()]).describe('A word, or degrees clockwise from north.');
const shownLane = z.union([z.int(), z.string()]).describe('The number of the lane, or its name.');
const shownMovement = z.object({ from: z.enum(legs), turn: z.enum(turns).optional() });

/** Which channel of a sensor counts for which point, from when until when. */
export const assignment = z.object({
  id: z.string(),
  pointId: z.string(),
  locationId: z.string(),
  sensorId: z.string(),
  channel: z.union([
    z.string(),
    z.strictObject({
      direction: shownDirection.optional(),
      lane: shownLane.optional(),
      movement: shownMovement.optional(),
    }),
  ]),
  lane: shownLane.nullable(),
  movement: shownMovement.nullable(),
  role,
  countedTypes: z.array(eventType).nullable(),
  correctionAngle: z.number().describe('Degrees.'),
  speedUnit: speedUnit.nullable(),
  ...validity,
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type Assignment = z.infer<typeof assignment>;

const assigned = {
  channel: channel.describe(
    'Which part of what the sensor sends: `*` for everything that no other assignment of the sensor with the same role names, the direction (NB, APPROACHING, 92.5), lane or movement (`S:L`) as sent, or several of them as an object.',
  ),
  lane: lane.nullable().describe('The lane of the point. null: as sent.'),
  movement: movement.nullable().describe('The movement at an intersection. null: as sent.'),
};

export const createAssignmentInput = z.object({
  sensorId: id,
  pointId: id,
  channel: assigned.channel.default('*'),
  lane: assigned.lane
    .optional()
    .transform(nothing)
    .describe(assigned.lane.description ?? ''),
  movement: assigned.movement
    .optional()
    .transform(nothing)
    .describe(assigned.movement.description ?? ''),
  role: role.default('COUNT'),
  countedTypes: countedTypes.nullish().transform(nothing),
  correctionAngle: correctionAngle.default(0),
  speedUnit: speedUnit.nullish().transform(nothing),
  validFrom: from('the assignment holds'),
  validUntil: until,
});
export type CreateAssignmentInput = z.infer<typeof createAssignmentInput>;

export const updateAssignmentInput = z.object({
  id,
  channel: assigned.channel.optional(),
  lane: assigned.lane.optional(),
  movement: assigned.movement.optional(),
  role: role.optional(),
  countedTypes: countedTypes.nullable().optional(),
  correctionAngle: correctionAngle.optional(),
  speedUnit: speedUnit.nullable().optional(),
  validFrom: from('the assignment holds'),
  validUntil: until,
});
export type UpdateAssignmentInput = z.infer<typeof updateAssignmentInput>;

export const listAssignmentsInput = z
  .object({
    ...paging(100),
    locationId: id.optional().describe('Only those to points of this location.'),
    pointId: id.optional(),
    sensorId: id.optional(),
    at,
  })
  .prefault({});
export type ListAssignmentsInput = z.infer<typeof listAssignmentsInput>;
export const assignmentsPage = z.object({ assignments: z.array(assignment), ...pageTotals });

export const deletedPoint = z.object({ success: z.literal(true), id: z.string() });
