import { z } from 'zod';
import { coordinates, coordinatesInput } from './coordinates.ts';
import { event, severity } from './events.ts';
import { id } from './id.ts';
import { incidentActions } from './incident-states.ts';
import { incidentPerformance, incidentWork, noteAudience } from './incident-work.ts';
import { jsonObject } from './json.ts';
import { MAX_LATE_DAYS } from './log.ts';
import { pageTotals, paging, sortOrder } from './page.ts';
import { role } from './permissions.ts';
import { person } from './person.ts';
import { showsPlate } from './plate-fields.ts';
import { messagesOf, resumable } from './realtime.ts';
import { editableText, optionalText, searchText, trimmedText } from './text.ts';
import { timeInput, timeRange } from './time.ts';
import { incidentStatuses, incidentTypes, MAX_NOTE_IMAGES } from './values.ts';

export const incidentType = z.enum(incidentTypes);
export type IncidentType = z.infer<typeof incidentType>;

/** In the order of an incident's life; sorting by status uses the position. */
export const incidentStatus = z.enum(incidentStatuses);
export type IncidentStatus = z.infer<typeof incidentStatus>;

export const incidentAction = z.enum(incidentActions);

/** Actions of users on an existing incident; `attachEvent`, `update` and `resolve` are also actions of the service itself. */
export type IncidentAction = z.infer<typeof incidentAction>;

/** Something that requires action by users. */
export const incident = z.object({
  id: z.string(),
  title: z.string(),
  description: showsPlate('incidentText', z.string().nullable()),
  type: incidentType,
  severity,
  status: incidentStatus,
  location: coordinates.nullable(),
  locationId: z.string().nullable(),
  sensorId: z.string().nullable(),
  lanesBlocked: z.number().nullable().describe('Number of lanes.'),
  reportedBy: person.nullable().describe('null if an event opened it.'),
  assignedTo: person.nullable(),
  openedAt: z.date(),
  acknowledgedAt: z
    .date()
    .nullable()
    .describe('The first acknowledgement, even if the incident was reopened since.'),
  resolvedAt: z.date().nullable(),
  closedAt: z.date().nullable(),
  updatedAt: z.date(),
  backlog: z
    .boolean()
    .describe(
      'Whether the event that opened it was already more than 15 minutes old, for example because a sensor was offline. Such incidents are excluded from the time to acknowledge.',
    ),
});
export type Incident = z.infer<typeof incident>;

const recordedAction = z.enum(['create', ...incidentAction.options]);

const timelineEntry = z.object({
  action: recordedAction,
  at: z.date(),
  by: person.nullable().describe('null: the service itself, because of an event.'),
  from: incidentStatus.nullable(),
  to: incidentStatus.nullable(),
  note: z.string().nullable(),
  audience: noteAudience.optional().describe('Of a note: who may read it.'),
  details: jsonObject
    .nullable()
    .describe(
      'What the action changed. An `update` by nobody: an event (`eventId`) raised the severity. A `resolve` by nobody: the source reported that it is over (`reason`: `ended` or `cancelled`). `reportedSeverity`: the source reported a lower severity, which does not lower that of the incident. For a note with images: `images`, their addresses (`/images/<sha256>`). For a note that arrived more than a minute after it was written: `writtenAt`. `setTimes`, `setFacts` and `verify`: what was changed, with both values.',
    ),
});
export type IncidentTimelineEntry = z.infer<typeof timelineEntry>;

/** Maximum number of events, and of timeline entries, in one answer. */
export const MAX_INCIDENT_EVENTS = 100;
export const MAX_INCIDENT_TIMELINE = 500;

/** An incident with all its fields, as returned by `incidents.getById`. */
export const incidentDetail = incident.extend({
  events: z.array(event).describe(`Newest first, at most ${MAX_INCIDENT_EVENTS}.`),
  eventCount: z.number().describe('Number of attached events, including those deleted since.'),
  timeline: showsPlate(
    'incidentTimeline',
    z
      .array(timelineEntry)
      .describe(
        `Oldest first, at most ${MAX_INCIDENT_TIMELINE}. If there are more, actions of people take precedence over events attached by the service.`,
      ),
  ),
  work: incidentWork.describe('Times, lanes and facts that were recorded while it was worked on.'),
});
export type IncidentDetail = z.infer<typeof incidentDetail>;

/** A change of an incident, as sent to subscribers. */
export const incidentChange = z.object({
  action: recordedAction,
  incident,
  by: person.nullable().describe('null: the service itself, because of an event.'),
  note: z.string().nullable(),
  at: z.date(),
});
export type IncidentChange = z.infer<typeof incidentChange>;

export const followIncidentsInput = z
  .object({
    id: id.optional().describe('Only changes of this incident.'),
    type: incidentType.optional(),
    severity: severity.optional(),
    sensorId: id.optional(),
    locationId: id.optional(),
    ...resumable,
  })
  .prefault({});
export type FollowIncidentsInput = z.infer<typeof followIncidentsInput>;
export const incidentMessage = messagesOf('change', incidentChange);

const title = trimmedText(200, 1);
const lanesBlocked = z.int().min(0).max(20);
const LANES = 'Number of lanes.';
const note = optionalText(2000);

export const createIncidentInput = z.object({
  title,
  description: optionalText(10_000),
  type: incidentType,
  severity: severity.default('MEDIUM'),
  location: coordinatesInput.nullish().transform((value) => value ?? null),
  locationId: id.nullish().transform((value) => value ?? null),
  sensorId: id.nullish().transform((value) => value ?? null),
  lanesBlocked: lanesBlocked
    .nullish()
    .transform((value) => value ?? null)
    .describe(LANES),
  assignedTo: id
    .nullish()
    .transform((value) => value ?? null)
    .describe('The id of a user with the permission Manage Incidents.'),
  eventIds: z
    .array(id)
    .max(100, 'Attach at most 100 events')
    .nullish()
    .transform((value) => value ?? [])
    .describe('Events to attach to the incident.'),
});
export type CreateIncidentInput = z.infer<typeof createIncidentInput>;

const expectedUpdatedAt = timeInput
  .optional()
  .describe(
    'The `updatedAt` of the incident as you saw it. If somebody has changed the incident since, other than by attaching events or adding notes, nothing changes (CONFLICT).',
  );

export const updateIncidentInput = z.object({
  id,
  expectedUpdatedAt,
  title: title.optional(),
  description: editableText(10_000),
  type: incidentType.optional(),
  severity: severity.optional(),
  location: coordinatesInput.nullable().optional(),
  locationId: id.nullable().optional(),
  sensorId: id.nullable().optional(),
  lanesBlocked: lanesBlocked.nullable().optional().describe(LANES),
});
export type UpdateIncidentInput = z.infer<typeof updateIncidentInput>;

export const moveIncidentInput = z.object({ id, note });
export const reopenIncidentInput = z.object({ id, note: trimmedText(2000, 1).describe('The reason.') });

export const addNoteInput = z
  .object({
    id,
    note: note.describe('Required if there are no images.'),
    audience: noteAudience.default('INTERNAL').describe('Whose situation reports have the note.'),
    images: z
      .array(z.string())
      .max(MAX_NOTE_IMAGES, `Attach at most ${MAX_NOTE_IMAGES} images to a note`)
      .nullish()
      .transform((value) => value ?? [])
      .describe('JPEG, PNG or WebP images in base64, alone or as `data:` URLs.'),
    writtenAt: timeInput
      .optional()
      .describe(
        `When it was written, at most ${MAX_LATE_DAYS} days ago. By default now. The timeline has both times if they differ by more than a minute.`,
      ),
    idempotencyKey: trimmedText(100, 1)
      .optional()
      .describe('The same call with the same key adds one note, however often it is sent.'),
  })
  .superRefine(({ note, images }, ctx) => {
    if (note !== null || images.length > 0) return;
    ctx.addIssue({ code: 'custom', path: ['note'], message: 'Write a note, or attach an image' });
  });
export type AddNoteInput = z.infer<typeof addNoteInput>;
export const attachEventInput = z.object({ id, eventId: id });

export const assignees = z.object({
  assignees: z
    .array(person.extend({ role }))
    .describe(
      'Active users with the permission Manage Incidents, by name. For the role FIELD: the user alone.',
    ),
});

export const assignIncidentInput = z.object({
  id,
  userId: id.nullable().describe('The user to assign the incident to; null for nobody.'),
  expectedAssignee: id
    .nullable()
    .optional()
    .describe(
      'The assignee that you saw. If somebody else has been assigned since, nothing changes (CONFLICT).',
    ),
  expectedUpdatedAt,
});
export type AssignIncidentInput = z.infer<typeof assignIncidentInput>;

const statusFilter = z
  .union([incidentStatus, z.array(incidentStatus).min(1).max(incidentStatus.options.length)], {
    error: `Use one of ${incidentStatus.options.join(', ')}, or an array of them`,
  })
  .transform((value) => (Array.isArray(value) ? value : [value]));

export const listIncidentsInput = z
  .object({
    status: statusFilter.optional().describe('One status, or an array of them.'),
    type: incidentType.optional(),
    severity: z
      .union([severity, z.array(severity).min(1).max(severity.options.length)], {
        error: `Use one of ${severity.options.join(', ')}, or an array of them`,
      })
      .transform((value) => (Array.isArray(value) ? value : [value]))
      .optional()
      .describe('One severity, or an array of them.'),
    sensorId: id.optional(),
    locationId: id.optional(),
    assignedTo: id.optional().describe('The id of a user, `me`, or `nobody`.'),
    search: searchText(200).describe('Part of a title or description, ignoring case.'),
    ...timeRange,
    ...paging(50),
    sortBy: z
      .enum(['openedAt', 'updatedAt', 'severity', 'status', 'priority'])
      .default('openedAt')
      .describe(
        '`priority` descending: the most severe first, among those of one severity the ones that nobody has acknowledged (OPEN), then the oldest; ascending: the reverse.',
      ),
    sortOrder: sortOrder.default('desc'),
  })
  .prefault({});
export type ListIncidentsInput = z.infer<typeof listIncidentsInput>;

export const incidentsPage = z.object({ incidents: z.array(incident), ...pageTotals });

const ofPerformance = 'Only for `performance`: ';
export const incidentStatsInput = z
  .object({
    ...timeRange,
    type: incidentType.optional().describe(`${ofPerformance}those of this type.`),
    severity: severity.optional().describe(`${ofPerformance}those of this severity.`),
    road: searchText(100).describe(`${ofPerformance}those at locations of this road, ignoring case.`),
  })
  .prefault({});
export type IncidentStatsInput = z.infer<typeof incidentStatsInput>;
export const incidentStats = z.object({
  total: z.number().describe('Number of incidents.'),
  open: z.number().describe('Number of incidents that are neither resolved nor closed.'),
  openBySeverity: z.array(z.object({ severity, count: z.number().describe('Number of items.') })),
  byStatus: z.array(z.object({ status: incidentStatus, count: z.number().describe('Number of items.') })),
  byType: z.array(z.object({ type: incidentType, count: z.number().describe('Number of items.') })),
  meanTimeToAcknowledge: z
    .number()
    .nullable()
    .describe(
      'Average number of seconds from opening to the first acknowledgement, over acknowledged incidents that are not marked `backlog`; null if there are none.',
    ),
  meanTimeToResolve: z
    .number()
    .nullable()
    .describe(
      'Average number of seconds from opening to resolution, over resolved and closed incidents other than those of planned works; null if there are none.',
    ),
  performance: incidentPerformance(incidentType, severity).describe(
    'Clearance times, without incidents of planned works. Incidents of which a time is missing do not count in it; `count` says how many do.',
  ),
});
export type IncidentStats = z.infer<typeof incidentStats>;
