import { z } from 'zod';
import { plainDate } from './calendars.ts';
import { caseFold } from './case-fold.ts';
import { coordinates, coordinatesInput } from './coordinates.ts';
import { checkCorridor, corridor } from './corridors.ts';
import { faultState } from './faults.ts';
import { id } from './id.ts';
import { lane } from './movements.ts';
import { pageTotals, paging, sortOrder } from './page.ts';
import { person } from './person.ts';
import { showsPlate } from './plate-fields.ts';
import { messagesOf, resumable } from './realtime.ts';
import { editableText, optionalText, searchText, text, trimmedText } from './text.ts';
import { timeInput } from './time.ts';
import {
  clockHints,
  clockStates,
  eventTypes,
  pointDirections,
  sensorStatuses,
  sensorTypes,
} from './values.ts';

export const sensorType = z.enum(sensorTypes);
export type SensorType = z.infer<typeof sensorType>;

export const sensorStatus = z.enum(sensorStatuses);
export type SensorStatus = z.infer<typeof sensorStatus>;

/** What a sensor does, or fails to do, that affects its status. */
export type SensorSignal = 'heartbeat' | 'event' | 'criticalIssue' | 'silence';

/**
 * The state machine of sensors: signal × status → next status. MAINTENANCE begins and ends by hand. Users may change
 * any status to any other (`sensors.update`). An event does not end ERROR: it does not say that the issue is gone, as a
 * heartbeat without critical issues does.
 */
export const nextStatus = {
  heartbeat: { OFFLINE: 'ONLINE', ONLINE: 'ONLINE', ERROR: 'ONLINE', MAINTENANCE: 'MAINTENANCE' },
  event: { OFFLINE: 'ONLINE', ONLINE: 'ONLINE', ERROR: 'ERROR', MAINTENANCE: 'MAINTENANCE' },
  criticalIssue: { OFFLINE: 'ERROR', ONLINE: 'ERROR', ERROR: 'ERROR', MAINTENANCE: 'MAINTENANCE' },
  silence: { OFFLINE: 'OFFLINE', ONLINE: 'OFFLINE', ERROR: 'ERROR', MAINTENANCE: 'MAINTENANCE' },
} as const satisfies Record<SensorSignal, Record<SensorStatus, SensorStatus>>;

/** The format of API keys. */
export const API_KEY = /^[0-9a-f]{64}$/;
export const apiKeyInput = z.string().max(1000);

const LANE = 'The number or name of the lane that it covers.';
const MAKE = 'Who made it.';
const WARRANTY = 'The last day of its warranty: YYYY-MM-DD.';
const CERTIFICATES = 'Where its certificates are kept: words, or a link that begins with https://.';

/** A sensor with all its fields, as returned by `sensors.getById`. */
export const sensor = z.object({
  id: z.string(),
  name: z.string(),
  deviceId: z.string(),
  type: sensorType,
  status: sensorStatus,
  ipAddress: z.string().nullable(),
  macAddress: z.string().nullable(),
  firmware: z.string().nullable(),
  coordinates: coordinates.nullable(),
  apiKey: z
    .string()
    .describe(
      'The key itself for callers with the permission Manage Sensors; its SHA-256 fingerprint for all others.',
    ),
  eventsPerMin: z.number().describe('The number of events per minute that is expected of the sensor.'),
  description: z.string().nullable(),
  locationId: z.string().nullable(),
  lane: z.union([z.number(), z.string()]).nullable().describe(LANE),
  direction: z.enum(pointDirections).nullable().describe('The direction of travel that it covers.'),
  make: z.string().nullable().describe(MAKE),
  model: z.string().nullable(),
  serialNumber: z.string().nullable(),
  warrantyUntil: z.string().nullable().describe(WARRANTY),
  certificatePlace: z.string().nullable().describe(CERTIFICATES),
  tags: z.array(z.string()),
  lastHeartbeat: z.date().nullable(),
  lastCommunication: z.date().nullable(),
  lastPing: z.date().nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type Sensor = z.infer<typeof sensor>;

/** A sensor as in `sensors.getAll`. */
export const listedSensor = sensor.omit({
  lane: true,
  direction: true,
  make: true,
  warrantyUntil: true,
  certificatePlace: true,
  model: true,
  serialNumber: true,
  tags: true,
  macAddress: true,
  firmware: true,
  lastCommunication: true,
  lastPing: true,
});
export type ListedSensor = z.infer<typeof listedSensor>;

/** A sensor as returned by `sensors.create`. */
export const createdSensor = listedSensor.omit({ lastHeartbeat: true });

/** A sensor as in `sensors.getAllSensors`, with its location. */
export const locatedSensor = listedSensor.omit({ description: true, locationId: true }).extend({
  location: z.object({ id: z.string(), name: z.string(), address: z.string() }).nullable(),
});
export type LocatedSensor = z.infer<typeof locatedSensor>;

/** The name of a sensor: 3 to 50 characters. */
export const sensorName = trimmedText(50, 3);
const description = optionalText(2000);
const eventsPerMin = z
  .int()
  .min(1)
  .max(1_000_000)
  .describe('The number of events per minute that is expected of the sensor.');
const requiresHeartbeats = z
  .boolean()
  .describe(
    'true: only heartbeats affect the status. false: every accepted event is a liveness signal too. `sensors.getSignsOfLife` returns it.',
  );

/** Maximum number of tags of a sensor, and maximum length of one, in characters. */
export const MAX_TAGS = 20;
const TAG_MAX = 40;
const tags = z
  .array(trimmedText(TAG_MAX, 1))
  .max(MAX_TAGS, `Use at most ${MAX_TAGS} tags`)
  .superRefine((given, ctx) => {
    const known = new Map<string, string>();
    for (const tag of given) {
      const same = known.get(caseFold(tag));
      if (same !== undefined)
        ctx.addIssue(
          `The tags ${JSON.stringify(same)} and ${JSON.stringify(tag)} are the same: leave one out`,
        );
      known.set(caseFold(tag), tag);
    }
  })
  .describe('By which lists and rules select sensors, ignoring case.');
const sensorDirection = z
  .enum(pointDirections, `Use ${pointDirections.join(', ')}`)
  .describe('The direction of travel that it covers: NB is travelling north.');

const WARRANTY_DATE = 'Use a date from 1970-01-01 to 2199-12-31';
const warrantyUntil = plainDate.refine((date) => date >= '1970-01-01' && date <= '2199-12-31', WARRANTY_DATE);

/** Maximum length of a make or a model, in characters. */
const MODEL_MAX = 100;
const CERTIFICATES_MAX = 500;
const isLinkOrWords = (place: string | null | undefined): boolean =>
  !place || !/^[a-z][a-z\d+.-]{0,20}:\/\//i.test(place) || (/^https:/i.test(place) && URL.canParse(place));
const USE_HTTPS = 'Use a link that begins with https://, or say in words where they are';

export const createSensorInput = z.object({
  name: sensorName,
  deviceId: trimmedText(50, 3),
  type: sensorType,
  eventsPerMin: eventsPerMin.default(20),
  ipAddress: optionalText(255),
  coordinates: coordinatesInput.nullish().transform((value) => value ?? null),
  description,
  locationId: id.nullish().transform((value) => value ?? null),
  requiresHeartbeats: requiresHeartbeats.default(false),
  lane: lane
    .nullish()
    .transform((value) => value ?? null)
    .describe(LANE),
  direction: sensorDirection.nullish().transform((value) => value ?? null),
  make: optionalText(MODEL_MAX).describe(MAKE),
  model: optionalText(MODEL_MAX),
  serialNumber: optionalText(100),
  warrantyUntil: warrantyUntil
    .nullish()
    .transform((value) => value ?? null)
    .describe(WARRANTY),
  certificatePlace: optionalText(CERTIFICATES_MAX).refine(isLinkOrWords, USE_HTTPS).describe(CERTIFICATES),
  tags: tags.nullish().transform((value) => value ?? []),
});
export type CreateSensorInput = z.infer<typeof createSensorInput>;

/** Why a status is set by hand, for its history. */
export const statusReason = editableText(500).describe(
  'With `status`: why it is set, for the status history and the activity log.',
);
/** Whether a reason, if there is one, is for a status. */
export const isReasonOfStatus = (given: { status?: unknown; reason?: string | null | undefined }): boolean =>
  !given.reason || given.status !== undefined;
export const REASON_ALONE = {
  path: ['reason'],
  message: 'A reason is for a change of the status: give the status, too',
};

/** The fields of a sensor that an update may set. */
export const updateFields = {
  name: sensorName.optional(),
  type: sensorType.optional(),
  status: sensorStatus.optional(),
  eventsPerMin: eventsPerMin.optional(),
  ipAddress: editableText(255),
  coordinates: coordinatesInput.nullable().optional(),
  locationId: id.nullable().optional(),
  validFrom: timeInput
    .optional()
    .describe(
      'Since when the sensor is at `locationId`, if it was moved in the past. Traffic figures of both locations follow; events keep the location with which they were stored. Later moves that are recorded no longer count.',
    ),
  validUntil: timeInput
    .optional()
    .describe(
      'Until when it was there, exclusive. What is recorded of the time after that stays, also where it is now.',
    ),
  description: editableText(2000),
  requiresHeartbeats: requiresHeartbeats.optional(),
  lane: lane.nullable().optional().describe(LANE),
  direction: sensorDirection.nullable().optional(),
  make: editableText(MODEL_MAX).describe(MAKE),
  model: editableText(MODEL_MAX),
  serialNumber: editableText(100),
  warrantyUntil: warrantyUntil.nullable().optional().describe(WARRANTY),
  certificatePlace: editableText(CERTIFICATES_MAX).refine(isLinkOrWords, USE_HTTPS).describe(CERTIFICATES),
  tags: tags.optional().describe('Replaces the tags as a whole.'),
};
export const updateSensorInput = z
  .object({ ...updateFields, id, reason: statusReason })
  .refine(isReasonOfStatus, REASON_ALONE);
export type UpdateSensorInput = z.infer<typeof updateSensorInput>;

export const listSensorsInput = z
  .object({
    ...paging(10),
    search: searchText(200).describe('Part of a name or `deviceId`, ignoring case.'),
    type: sensorType.optional(),
    status: sensorStatus.optional(),
    locationId: id.optional().describe('Only sensors at this location.'),
    tag: searchText(TAG_MAX).describe('Only sensors with this tag, ignoring case.'),
    make: searchText(MODEL_MAX).describe('Only sensors of this make, ignoring case.'),
    model: searchText(MODEL_MAX).describe('Only sensors of this model, ignoring case.'),
    ...corridor,
    hasFault: z
      .boolean()
      .optional()
      .describe('true: only sensors with a fault that is not repaired. false: only those without.'),
    warrantyEndsWithin: z
      .int()
      .min(0)
      .max(3_660)
      .optional()
      .describe(
        'Only sensors whose warranty ends within this number of days from today, in the time zone of the service.',
      ),
    sortBy: z
      .enum(['name', 'type', 'status', 'createdAt', 'lastHeartbeat', 'worst'])
      .default('createdAt')
      .describe(
        '`worst`, with `desc`: the worst first. ERROR with an open fault, OFFLINE with one, ERROR, OFFLINE, ONLINE with an open fault, MAINTENANCE, ONLINE; among equals, the one whose status is older.',
      ),
    sortOrder: sortOrder.default('desc'),
  })
  .superRefine(checkCorridor)
  .prefault({});
export type ListSensorsInput = z.infer<typeof listSensorsInput>;

export const sensorsPage = z.object({ sensors: z.array(listedSensor), ...pageTotals });

/** A sensor as in `sensors.getFleet`: what those who maintain it need, without keys. */
export const fleetSensor = sensor
  .pick({
    ...{ id: true, name: true, deviceId: true, type: true, status: true, ipAddress: true, coordinates: true },
    ...{ make: true, model: true, serialNumber: true, warrantyUntil: true, tags: true, eventsPerMin: true },
    ...{ lastHeartbeat: true, createdAt: true },
  })
  .extend({
    statusSince: z.date(),
    location: z
      .object({
        id: z.string(),
        name: z.string(),
        road: z.string().nullable(),
        kilometre: z.number().nullable(),
      })
      .nullable(),
    lastEvent: z
      .object({
        at: z.date().describe('When it arrived; written every two seconds.'),
        eventType: z
          .enum(eventTypes)
          .nullable()
          .describe('null for one that arrived before it was recorded.'),
      })
      .nullable(),
    openFaults: z.number().describe('Number of faults that are not repaired.'),
    fault: z
      .object({
        id: z.string(),
        state: faultState,
        since: z.date(),
        foundAt: z.date(),
        text: z.string(),
        code: z.string().nullable(),
        ticket: z.string().nullable(),
      })
      .nullable()
      .describe('The one of them that was found first.'),
  });
export type FleetSensor = z.infer<typeof fleetSensor>;
export const fleetPage = z.object({ sensors: z.array(fleetSensor), ...pageTotals });

export const modelsOutput = z.array(
  z.object({
    make: z.string().nullable(),
    model: z.string().nullable(),
    sensors: z.number().describe('Number of sensors.'),
  }),
);
export const tagsOutput = z.array(
  z.object({ tag: z.string(), sensors: z.number().describe('Number of sensors.') }),
);
export const deleteSensorOutput = z.object({ success: z.literal(true), id: z.string() });

/** Longest time for which the previous key may stay valid after a rotation, in minutes: one day. */
export const MAX_KEY_OVERLAP_MINUTES = 1_440;

export const rotateKeyInput = z.object({
  id,
  overlapMinutes: z
    .int()
    .min(0)
    .max(MAX_KEY_OVERLAP_MINUTES)
    .default(0)
    .describe(
      'Number of minutes for which the previous key is still accepted. 0: it becomes invalid at once.',
    ),
});
export type RotateKeyInput = z.infer<typeof rotateKeyInput>;

export const sensorKeyInfo = z.object({
  lastUsedAt: z.date().nullable().describe('When a device last used the current key; null: not yet.'),
  rotatedAt: z
    .date()
    .nullable()
    .describe('When the current key was issued by a rotation; null: never rotated.'),
  previousValidUntil: z
    .date()
    .nullable()
    .describe('Time until which the previous key is accepted; null: it is not.'),
  previousLastUsedAt: z
    .date()
    .nullable()
    .describe('When a device last used the previous key, while it is accepted.'),
});
export type SensorKeyInfo = z.infer<typeof sensorKeyInfo>;

export const rotateKeyOutput = z.object({ id: z.string(), apiKey: z.string() });

export const revealKeyOutput = rotateKeyOutput;

export const heartbeatInput = z.object({
  apiKey: apiKeyInput,
  firmware: optionalText(100),
  ipAddress: optionalText(255),
  macAddress: optionalText(50),
  issues: z
    .array(
      z.object({
        code: trimmedText(100, 1),
        message: text(1000),
        severity: z.enum(['warning', 'critical']),
      }),
    )
    .max(50, 'Report at most 50 issues')
    .default([]),
});
export type HeartbeatInput = z.infer<typeof heartbeatInput>;

export const heartbeatOutput = z.object({
  success: z.literal(true),
  status: sensorStatus,
  serverTime: z.date(),
  intervalSeconds: z.number().describe('Interval at which to send heartbeats, in seconds.'),
});

/** What the status of a sensor is based on. */
export const signsOfLife = z.object({
  sensorId: z.string(),
  status: sensorStatus,
  requiresHeartbeats,
  lastHeartbeat: z.date().nullable(),
  lastEventAt: z
    .date()
    .nullable()
    .describe('When its last accepted event arrived; written every two seconds.'),
  timeoutSeconds: z
    .number()
    .describe('For how many seconds an ONLINE sensor may be silent before it becomes OFFLINE.'),
});
export type SignsOfLife = z.infer<typeof signsOfLife>;

export const clockState = z.enum(clockStates);
export type ClockState = z.infer<typeof clockState>;
export const clockHint = z.enum(clockHints);
export type ClockHint = z.infer<typeof clockHint>;

/** How far the clock of a sensor is off. */
export const sensorClock = z.object({
  sensorId: z.string(),
  state: clockState.describe(
    'WARNING: 30 s off or more. ERROR: 5 minutes or more. UNKNOWN: fewer than five reports, or they arrive late (`hint`).',
  ),
  hint: clockHint
    .nullable()
    .describe(
      'CLOCK: set the clock of the device, or use NTP. TIME_ZONE: it is off by whole hours, or half or quarter ones, so that the time zone or daylight saving time of the device or its connection is probably wrong. LATE: the reports arrive with different delays, as from a buffer, so that nothing follows for the clock.',
    ),
  offsetSeconds: z
    .number()
    .nullable()
    .describe(
      'The median time from an event to its receipt: how far the clock is behind; negative if it is ahead.',
    ),
  reports: z.number().describe('The number of reports by which it is judged: the latest, at most 21.'),
  lastReportAt: z.date().nullable(),
  unusableTimes: z
    .number()
    .describe(
      'The number of events that have the time of receipt, because the time that the device reported cannot be read, is before the year 2000 or is ahead. The reasons stand in the messages of its connections.',
    ),
  lastUnusableAt: z.date().nullable(),
});
export type SensorClock = z.infer<typeof sensorClock>;

export const statusHistoryInput = z.object({ id, ...paging(50) });
export const statusChange = z.object({
  from: sensorStatus.nullable(),
  to: sensorStatus,
  at: z.date(),
  reason: showsPlate('issues', z.string()),
  changedBy: person.nullable(),
});
export type StatusChange = z.infer<typeof statusChange>;

/** A change of a sensor's status, as sent to subscribers. */
export const sensorStatusChange = z.object({
  sensorId: z.string(),
  sensorName: z.string(),
  from: sensorStatus,
  to: sensorStatus,
  at: z.date(),
  reason: showsPlate('issues', z.string()),
});
export type SensorStatusChange = z.infer<typeof sensorStatusChange>;

export const followSensorsInput = z
  .object({
    sensorId: id.optional(),
    status: sensorStatus.optional().describe('Only changes to this status.'),
    ...resumable,
  })
  .prefault({});
export type FollowSensorsInput = z.infer<typeof followSensorsInput>;
export const statusChangedMessage = messagesOf('change', sensorStatusChange);

export const statusHistoryOutput = z.object({
  sensorId: z.string(),
  history: z.array(statusChange),
  ...pageTotals,
});

export const pingOutput = z.object({
  id: z.string(),
  reachable: z.boolean(),
  latencyMs: z
    .number()
    .nullable()
    .describe('Time to connect, in milliseconds; null if the connection failed.'),
  lastPing: z.date().nullable(),
});
