import { z } from 'zod';
import { id, storedId } from './id.ts';
import { laneState } from './incident-work.ts';
import { MAX_LANES } from './movements.ts';
import { pageTotals, paging, sortOrder } from './page.ts';
import { person } from './person.ts';
import { messagesOf, resumable } from './realtime.ts';
import { rotaHours } from './rotas.ts';
import { timezoneName } from './system.ts';
import { editableText, optionalText, searchText, trimmedText } from './text.ts';
import { timeInput, timeRange } from './time.ts';
import { pointDirections } from './values.ts';
import { windowStates, worksActions, worksKinds, worksMapBases, worksStates } from './work-states.ts';

// Planned works and closures, and maintenance of sensors: where they are, and when they are in force.

/** Maximum number of works that are not over. */
export const MAX_WORKS = 5_000;
/** Maximum number of sensors of one maintenance. */
export const MAX_WORKS_SENSORS = 500;
/** Maximum time from the start to the end of works, in days. */
export const MAX_WORKS_DAYS = 1_830;
/** Maximum number of positions of a line. */
export const MAX_POSITIONS = 1_000;
/** Maximum number of other works that a warning names, and of windows in one answer. */
export const MAX_OVERLAPS = 20;
export const MAX_WINDOWS = 1_000;

export const worksKind = z.enum(worksKinds);
export const worksState = z
  .enum(worksStates)
  .describe('APPROVED: they wait for their next window. ACTIVE: they are in force.');

const POSITION = 'Use a longitude from -180 to 180 and a latitude from -90 to 90';
const position = z
  .array(z.number().describe('Degrees (WGS 84).'))
  .length(2, POSITION)
  .refine(([east = 0, north = 0]) => Math.abs(east) <= 180 && Math.abs(north) <= 90, POSITION);
const geometry = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('Point'), coordinates: position }),
    z.object({
      type: z.literal('LineString'),
      coordinates: z
        .array(position)
        .min(2, 'A line has at least two positions')
        .max(MAX_POSITIONS, `A line has at most ${MAX_POSITIONS} positions`),
    }),
  ])
  .describe('GeoJSON (RFC 7946): longitude before latitude, in degrees (WGS 84).');
export type WorksGeometry = z.infer<typeof geometry>;

const KILOMETRE = 'Use a kilometre of the road, such as 12.4';
const kilometre = z.number(KILOMETRE).min(-99_999.999, KILOMETRE).max(99_999.999, KILOMETRE);

const FROM = 'The position of one end along the road, in km.';
const TO = 'That of the other end, on either side of the first.';

const fields = {
  title: trimmedText(200, 1),
  kind: worksKind,
  road: trimmedText(100, 1),
  direction: z.enum(pointDirections, `Use ${pointDirections.join(', ')}`),
  fromKilometre: kilometre,
  toKilometre: kilometre,
  locationId: storedId,
  geometry,
  lanes: z
    .array(laneState)
    .min(1, 'Describe at least one lane')
    .max(MAX_LANES, `Describe at most ${MAX_LANES} lanes`)
    .describe('How the lanes are while the works are in force, from the median to the outside.'),
  sensorIds: z
    .array(storedId)
    .max(MAX_WORKS_SENSORS, `Name at most ${MAX_WORKS_SENSORS} sensors`)
    .describe(
      'Sensors that are in MAINTENANCE meanwhile. Afterwards they get the status that they had, unless somebody changed it. Nobody is told of their alarms.',
    ),
  startsAt: timeInput.describe("Start. A time without an offset is in the service's time zone."),
  endsAt: timeInput.describe('End, exclusive. A plain date is the start of that day.'),
  recurrence: rotaHours.describe(
    'The hours in which they are in force, between start and end. Without, always. Hours that clocks skip begin and end as much later as the clocks are set forward; of hours that occur twice, the first ones count.',
  ),
  opensIncident: z
    .boolean()
    .describe(
      'Whether an incident is opened, IN_PROGRESS, with each window, and resolved with its end unless another one was merged into it: ROADWORKS, for a CLOSURE an OBSTRUCTION, for an EVENT OTHER.',
    ),
};

const nothing = <Value>(value: Value | null | undefined): Value | null => value ?? null;

export const createWorksInput = z.object({
  title: fields.title,
  kind: fields.kind.default('ROADWORKS'),
  description: optionalText(4_000),
  contact: optionalText(200).describe('Who is to be called about them.'),
  road: fields.road.nullish().transform(nothing),
  direction: fields.direction.nullish().transform(nothing).describe('null: both carriageways, or unknown.'),
  fromKilometre: fields.fromKilometre.nullish().transform(nothing).describe(FROM),
  toKilometre: fields.toKilometre.nullish().transform(nothing).describe(TO),
  locationId: fields.locationId.nullish().transform(nothing),
  geometry: fields.geometry.nullish().transform(nothing),
  lanes: fields.lanes.nullish().transform(nothing),
  sensorIds: fields.sensorIds.default([]),
  startsAt: fields.startsAt,
  endsAt: fields.endsAt,
  timezone: timezoneName.optional().describe("Of the hours. By default, the service's."),
  recurrence: fields.recurrence.nullish().transform(nothing),
  opensIncident: fields.opensIncident.default(false),
});
export type CreateWorksInput = z.infer<typeof createWorksInput>;

export const updateWorksInput = z.object({
  id,
  expectedVersion: z
    .int()
    .optional()
    .describe('The version that you saw. If somebody has changed them since, nothing changes (CONFLICT).'),
  title: fields.title.optional(),
  kind: fields.kind.optional(),
  description: editableText(4_000),
  contact: editableText(200),
  road: fields.road.nullable().optional(),
  direction: fields.direction.nullable().optional(),
  fromKilometre: fields.fromKilometre.nullable().optional().describe(FROM),
  toKilometre: fields.toKilometre.nullable().optional().describe(TO),
  locationId: fields.locationId.nullable().optional(),
  geometry: fields.geometry.nullable().optional(),
  lanes: fields.lanes.nullable().optional(),
  sensorIds: fields.sensorIds.optional(),
  startsAt: fields.startsAt.optional(),
  endsAt: fields.endsAt.optional(),
  timezone: timezoneName.optional(),
  recurrence: fields.recurrence.nullable().optional(),
  opensIncident: fields.opensIncident.optional(),
});
export type UpdateWorksInput = z.infer<typeof updateWorksInput>;

export const approveWorksInput = z.object({
  id,
  expectedVersion: z
    .int()
    .optional()
    .describe('The version that you saw. Another one is not approved (CONFLICT).'),
});
export type ApproveWorksInput = z.infer<typeof approveWorksInput>;
export const cancelWorksInput = z.object({ id, reason: trimmedText(500, 1) });
export type CancelWorksInput = z.infer<typeof cancelWorksInput>;

const kilometreOfRoad = z.number().nullable().describe('The position along the road, in km.');
const interval = z.object({ from: z.date(), until: z.date() });

export const worksOnMap = z
  .object({
    geometry,
    basis: z
      .enum(worksMapBases)
      .describe(
        'GEOMETRY: as entered. KILOMETRES: between locations of the road whose kilometres are known, in straight lines from one to the next. LOCATION: the location of the works. NEAREST: the location of the road that is nearest to the kilometres, where they lie beyond those that are known. SENSORS: the sensors that are maintained.',
      ),
    location: z.string().nullable().describe('The name of that location, for LOCATION and NEAREST.'),
  })
  .nullable()
  .describe('Where they are drawn on a map. null: it is not known.');
export type WorksOnMap = z.infer<typeof worksOnMap>;

export const works = z.object({
  id: z.string(),
  title: z.string(),
  kind: worksKind,
  state: worksState,
  description: z.string().nullable(),
  contact: z.string().nullable(),
  road: z.string().nullable(),
  direction: z.enum(pointDirections).nullable(),
  fromKilometre: kilometreOfRoad,
  toKilometre: kilometreOfRoad,
  locationId: z.string().nullable(),
  geometry: geometry.nullable(),
  lanes: z.array(laneState).nullable(),
  sensorIds: z.array(z.string()),
  startsAt: z.date(),
  endsAt: z.date(),
  timezone: z.string(),
  recurrence: z.object({ from: z.string(), until: z.string(), weekdays: z.array(z.number()) }).nullable(),
  opensIncident: z.boolean(),
  window: interval.nullable().describe('The window in force, or the next one. null: there is none.'),
  incidentId: z.string().nullable().describe('The incident of the window in force.'),
  createdBy: person.nullable(),
  proposedBy: person.nullable().describe('Who last changed what is to be approved.'),
  approvedBy: person.nullable(),
  approvedAt: z.date().nullable(),
  cancelledBy: person.nullable(),
  cancelReason: z.string().nullable(),
  version: z.number().describe('Number of changes by people.'),
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type Works = z.infer<typeof works>;

const overlap = z.object({
  id: z.string(),
  title: z.string(),
  state: worksState,
  from: z.date().describe('When both are in force for the first time.'),
  until: z.date(),
  message: z.string(),
});
export type Overlap = z.infer<typeof overlap>;

export const savedWorks = works.extend({
  overlaps: z
    .array(overlap)
    .describe(
      `Other works on the same carriageway, with kilometres in common, at a time in common: at most ${MAX_OVERLAPS}. They are allowed.`,
    ),
});
export type SavedWorks = z.infer<typeof savedWorks>;

export const worksWindow = z.object({
  worksId: z.string(),
  title: z.string(),
  kind: worksKind,
  worksState,
  road: z.string().nullable(),
  direction: z.enum(pointDirections).nullable(),
  fromKilometre: kilometreOfRoad,
  toKilometre: kilometreOfRoad,
  place: z.string().nullable().describe('The name of the location.'),
  onMap: worksOnMap
    .optional()
    .describe('Where they are drawn on a map, if that was asked for. null: it is not known.'),
  from: z.date(),
  until: z.date(),
  state: z
    .enum(windowStates)
    .describe('MISSED: it passed while no process of the service ran. Nothing was done for it.'),
  incidentId: z.string().nullable(),
});
export type WorksWindow = z.infer<typeof worksWindow>;

export const worksDetail = savedWorks.extend({
  place: z.string().nullable().describe('The name of the location.'),
  onMap: worksOnMap,
  sensors: z.array(z.object({ id: z.string(), name: z.string() })).describe('Those that exist.'),
  windows: z
    .array(
      z.object({
        from: z.date(),
        until: z.date(),
        state: z.enum(windowStates),
        beganAt: z.date().nullable(),
        endedAt: z.date().nullable(),
        incidentId: z.string().nullable(),
      }),
    )
    .describe('The last 50 windows, and the next 10, in order.'),
});
export type WorksDetail = z.infer<typeof worksDetail>;

export const listWorksInput = z
  .object({
    ...timeRange,
    ...paging(50),
    states: z.array(worksState).max(worksStates.length).optional(),
    kind: worksKind.optional(),
    road: searchText(100).describe('The road, ignoring case.'),
    sensorId: id.optional(),
    locationId: id.optional(),
    search: searchText(200).describe('Part of the title, the road or the contact, ignoring case.'),
    sortOrder: sortOrder.default('asc').describe('By the next window, then by the start.'),
  })
  .prefault({});
export type ListWorksInput = z.infer<typeof listWorksInput>;
export const worksPage = z.object({ works: z.array(works), ...pageTotals });

/** Maximum range of windows, in days: the six weeks of a month. */
export const MAX_WINDOW_DAYS = 42;
export const listWindowsInput = z.object({
  startDate: timeInput.optional().describe('Start, inclusive. By default now.'),
  hours: z
    .int()
    .min(1)
    .max(MAX_WINDOW_DAYS * 24)
    .default(12),
  drafts: z.boolean().default(false).describe('Whether works that are not approved are included.'),
  onMap: z.boolean().default(false).describe('Whether the answer says where they are on a map.'),
});
export type ListWindowsInput = z.infer<typeof listWindowsInput>;
export const worksWindows = z.object({
  windows: z.array(worksWindow).describe(`In the order of their starts, at most ${MAX_WINDOWS}.`),
  hasMore: z.boolean().describe('Whether there are more.'),
});

export const worksChange = z.object({
  action: z.enum(worksActions),
  works,
  by: person.nullable().describe('null: the service, by the clock.'),
  at: z.date(),
});
export type WorksChange = z.infer<typeof worksChange>;
export const followWorksInput = z.object({ id: id.optional(), ...resumable }).prefault({});
export type FollowWorksInput = z.infer<typeof followWorksInput>;
export const worksMessage = messagesOf('change', worksChange);
