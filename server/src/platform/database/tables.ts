import type { CaseState } from '@gantry/contract/case-states';
import type { CaseCheck, CaseExport, CaseKind, CaseRejectionCode, MarkInImage } from '@gantry/contract/cases';
import type { Coordinates } from '@gantry/contract/coordinates';
import type { EventType, Severity } from '@gantry/contract/events';
import type { HitKind, HitOutcome, HitState, RejectionCode } from '@gantry/contract/hits';
import type {
  HotlistSource,
  HotlistTemplate,
  HotlistTolerance,
  HotlistVerification,
} from '@gantry/contract/hotlists';
import type { LaneState, SettableTime } from '@gantry/contract/incident-states';
import type { CalledAgency, IncidentFacts, LaneEntry, NoteAudience } from '@gantry/contract/incident-work';
import type { IncidentStatus, IncidentType } from '@gantry/contract/incidents';
import type { Location } from '@gantry/contract/locations';
import { type Lane, lane } from '@gantry/contract/movements';
import type {
  ChannelKind,
  ChannelSettings,
  ContactKind,
  NoticeKind,
  NoticeLanguage,
  NoticeStatus,
  QuietHours,
} from '@gantry/contract/notices';
import type { Role } from '@gantry/contract/permissions';
import type { PlanStep } from '@gantry/contract/plan-steps';
import type { Assignment, MeasuringPoint, StoredChannel } from '@gantry/contract/points';
import type {
  CsvChoice,
  DispatchKind,
  DispatchStatus,
  ReportFileKind,
  ReportFilters,
  ReportFormat,
  ReportKind,
  ReportPeriod,
  ReportStatus,
  SendTo,
} from '@gantry/contract/reports';
import type { RotaHours, RotaLayer, StoredOverride } from '@gantry/contract/rotas';
import type { Sensor, SensorStatus, SensorType } from '@gantry/contract/sensors';
import type { SituationReportKind } from '@gantry/contract/situation-reports';
import type { StudyKind, StudyStatus, StudySubject, StudyTable } from '@gantry/contract/studies';
import type { TimezoneSettings } from '@gantry/contract/system';
import type { SpeedUnits } from '@gantry/contract/values';
import type { DeliveryKind, DeliveryStatus, WebhookFilter, WebhookKind } from '@gantry/contract/webhooks';
import type { WindowState, WorksKind, WorksState } from '@gantry/contract/work-states';
import type { Works, WorksGeometry } from '@gantry/contract/works';
import {
  bigint,
  boolean,
  customType,
  date,
  doublePrecision,
  integer,
  jsonb,
  numeric,
  pgTable,
  real,
  smallint,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';

// The columns that ordinary queries use. server/migrations defines the schema; schema.sql shows all of it.

function moment(name: string) {
  return timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });
}

/** The number or name of a lane, as text. */
const laneText = customType<{ data: Lane; driverData: string }>({
  dataType: () => 'text',
  toDriver: String,
  fromDriver: (stored) => lane.parse(stored),
});

export const settings = pgTable('settings', {
  onlyRow: boolean('only_row').primaryKey(),
  installedAt: moment('installed_at').notNull(),
  timezone: text('timezone').notNull(),
  use24HourFormat: boolean('use_24_hour_format').notNull(),
  dateFormat: text('date_format').notNull(),
  firstDayOfWeek: smallint('first_day_of_week').notNull(),
});

export const users = pgTable('users', {
  id: uuid('id').primaryKey().defaultRandom(),
  email: text('email').notNull(),
  passwordHash: text('password_hash').notNull(),
  firstName: text('first_name').notNull(),
  lastName: text('last_name').notNull(),
  role: text('role').$type<Role>().notNull(),
  phone: text('phone'),
  avatar: text('avatar'),
  department: text('department'),
  isActive: boolean('is_active').notNull().default(true),
  sessionEpoch: integer('session_epoch').notNull().default(0),
  lastLogin: moment('last_login'),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

/** Users whose account was deleted. */
export const formerUsers = pgTable('former_users', {
  id: uuid('id').primaryKey(),
  firstName: text('first_name').notNull(),
  lastName: text('last_name').notNull(),
  deletedAt: moment('deleted_at').notNull().defaultNow(),
});

export const sessions = pgTable('sessions', {
  id: uuid('id').primaryKey().defaultRandom(),
  userId: uuid('user_id').notNull(),
  epoch: integer('epoch').notNull(),
  startedAt: moment('started_at').notNull().defaultNow(),
  lastSeenAt: moment('last_seen_at').notNull().defaultNow(),
  expiresAt: moment('expires_at').notNull(),
  ipAddress: text('ip_address'),
  userAgent: text('user_agent'),
  endedAt: moment('ended_at'),
  byProvider: boolean('by_provider').notNull().default(false),
});

export const secondFactors = pgTable('second_factors', {
  userId: uuid('user_id').primaryKey(),
  secret: text('secret').notNull(),
  confirmedAt: moment('confirmed_at'),
  lastStep: bigint('last_step', { mode: 'number' }).notNull().default(0),
  createdAt: moment('created_at').notNull().defaultNow(),
});

export const recoveryCodes = pgTable('recovery_codes', {
  userId: uuid('user_id').notNull(),
  codeHash: text('code_hash').notNull(),
});

export const apiTokens = pgTable('api_tokens', {
  id: uuid('id').primaryKey().defaultRandom(),
  userId: uuid('user_id').notNull(),
  name: text('name').notNull(),
  role: text('role').$type<Role>().notNull(),
  prefix: text('prefix').notNull(),
  tokenHash: text('token_hash').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  expiresAt: moment('expires_at').notNull(),
  lastUsedAt: moment('last_used_at'),
  revokedAt: moment('revoked_at'),
});

export const externalIdentities = pgTable('external_identities', {
  issuer: text('issuer').notNull(),
  subject: text('subject').notNull(),
  userId: uuid('user_id').notNull(),
});

export const oidcLogins = pgTable('oidc_logins', {
  keyHash: text('key_hash').primaryKey(),
  codeVerifier: text('code_verifier'),
  nonce: text('nonce'),
  challenge: text('challenge').notNull(),
  userId: uuid('user_id'),
  expiresAt: moment('expires_at').notNull(),
});

export const activity = pgTable('activity', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  userId: uuid('user_id').notNull(),
  action: text('action').notNull(),
  at: moment('at').notNull().defaultNow(),
  ipAddress: text('ip_address'),
  userAgent: text('user_agent'),
  details: jsonb('details').$type<Record<string, unknown>>(),
  // Identifies the row that counts a repeated action for some time.
  gathered: text('gathered'),
});

export const locations = pgTable('locations', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
  address: text('address').notNull(),
  coordinates: jsonb('coordinates').$type<Coordinates>(),
  description: text('description'),
  speedLimit: doublePrecision('speed_limit'),
  road: text('road'),
  kilometre: numeric('kilometre', { mode: 'number' }),
  direction: text('direction').$type<Location['direction']>(),
  lanes: smallint('lanes'),
  hasShoulder: boolean('has_shoulder'),
  speedUnits: text('speed_units').$type<SpeedUnits>(),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

export const measuringPoints = pgTable('measuring_points', {
  id: uuid('id').primaryKey().defaultRandom(),
  locationId: uuid('location_id').notNull(),
  name: text('name').notNull(),
  direction: text('direction').$type<MeasuringPoint['direction']>().notNull(),
  bearing: smallint('bearing'),
  lanes: smallint('lanes'),
  facility: text('facility').$type<MeasuringPoint['facility']>().notNull(),
  roadClass: text('road_class'),
  setting: text('setting').$type<MeasuringPoint['setting']>(),
  validFrom: moment('valid_from'),
  validUntil: moment('valid_until'),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

export const detectorAssignments = pgTable('detector_assignments', {
  id: uuid('id').primaryKey().defaultRandom(),
  pointId: uuid('point_id').notNull(),
  sensorId: uuid('sensor_id').notNull(),
  channel: jsonb('channel').$type<StoredChannel>().notNull(),
  lane: text('lane'),
  movement: text('movement'),
  role: text('role').$type<Assignment['role']>().notNull(),
  countedTypes: text('counted_types').array().$type<NonNullable<Assignment['countedTypes']>>(),
  correctionAngle: doublePrecision('correction_angle').notNull(),
  speedUnit: text('speed_unit').$type<Assignment['speedUnit']>(),
  validFrom: moment('valid_from'),
  validUntil: moment('valid_until'),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

export const sensors = pgTable('sensors', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
  deviceId: text('device_id').notNull(),
  type: text('type').$type<SensorType>().notNull(),
  status: text('status').$type<SensorStatus>().notNull().default('OFFLINE'),
  statusSince: moment('status_since').notNull().defaultNow(),
  apiKey: text('api_key').notNull(),
  ipAddress: text('ip_address'),
  macAddress: text('mac_address'),
  firmware: text('firmware'),
  coordinates: jsonb('coordinates').$type<Coordinates>(),
  eventsPerMin: integer('events_per_min').notNull(),
  description: text('description'),
  locationId: uuid('location_id'),
  lastHeartbeat: moment('last_heartbeat'),
  lastCommunication: moment('last_communication'),
  lastPing: moment('last_ping'),
  lastEventAt: moment('last_event_at'),
  lastEventType: text('last_event_type').$type<EventType>(),
  requiresHeartbeats: boolean('requires_heartbeats').notNull().default(false),
  lane: laneText('lane'),
  direction: text('direction').$type<Sensor['direction']>(),
  make: text('make'),
  model: text('model'),
  serialNumber: text('serial_number'),
  warrantyUntil: date('warranty_until', { mode: 'string' }),
  certificatePlace: text('certificate_place'),
  tags: text('tags').array().notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

export const sensorStatusHistory = pgTable('sensor_status_history', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  sensorId: uuid('sensor_id').notNull(),
  fromStatus: text('from_status').$type<SensorStatus>(),
  toStatus: text('to_status').$type<SensorStatus>().notNull(),
  at: moment('at').notNull().defaultNow(),
  reason: text('reason').notNull(),
  changedBy: uuid('changed_by'),
});

export const incidents = pgTable('incidents', {
  id: uuid('id').primaryKey().defaultRandom(),
  title: text('title').notNull(),
  description: text('description'),
  type: text('type').$type<IncidentType>().notNull(),
  severity: smallint('severity').notNull(),
  status: text('status').$type<IncidentStatus>().notNull().default('OPEN'),
  location: jsonb('location').$type<Coordinates>(),
  locationId: uuid('location_id'),
  sensorId: uuid('sensor_id'),
  lanesBlocked: smallint('lanes_blocked'),
  reportedBy: uuid('reported_by'),
  assignedTo: uuid('assigned_to'),
  openedAt: moment('opened_at').notNull().defaultNow(),
  acknowledgedAt: moment('acknowledged_at'),
  resolvedAt: moment('resolved_at'),
  closedAt: moment('closed_at'),
  updatedAt: moment('updated_at').notNull().defaultNow(),
  backlog: boolean('backlog').notNull().default(false),
  lastEventAt: moment('last_event_at'),
  reportedType: text('reported_type').$type<IncidentType>(),
  reportedSeverity: smallint('reported_severity'),
  sourceKey: text('source_key'),
});

export const incidentEvents = pgTable('incident_events', {
  incidentId: uuid('incident_id').notNull(),
  eventId: uuid('event_id').notNull(),
  attachedAt: moment('attached_at').notNull().defaultNow(),
});

export const incidentTimeline = pgTable('incident_timeline', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  incidentId: uuid('incident_id').notNull(),
  at: moment('at').notNull().defaultNow(),
  userId: uuid('user_id'),
  action: text('action').notNull(),
  fromStatus: text('from_status').$type<IncidentStatus>(),
  toStatus: text('to_status').$type<IncidentStatus>().notNull(),
  note: text('note'),
  audience: text('audience').$type<NoteAudience>(),
  details: jsonb('details').$type<Record<string, unknown>>(),
});

export const incidentWork = pgTable('incident_work', {
  incidentId: uuid('incident_id').primaryKey(),
  timesSet: jsonb('times_set').$type<Partial<Record<SettableTime, string>>>().notNull().default({}),
  occurredAt: moment('occurred_at'),
  verifiedAt: moment('verified_at'),
  dispatchedAt: moment('dispatched_at'),
  arrivedAt: moment('arrived_at'),
  lanesOpenAt: moment('lanes_open_at'),
  lastLeftAt: moment('last_left_at'),
  normalAt: moment('normal_at'),
  isFalseAlarm: boolean('is_false_alarm').notNull().default(false),
  injured: text('injured').$type<IncidentFacts['injured']>(),
  hazardous: boolean('hazardous'),
  heavyVehicle: boolean('heavy_vehicle'),
  responderStruck: boolean('responder_struck'),
  secondaryOf: uuid('secondary_of'),
  mergedInto: uuid('merged_into'),
  planId: uuid('plan_id'),
  planVersion: integer('plan_version'),
});

export const agencies = pgTable('agencies', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
  kind: text('kind').$type<CalledAgency['kind']>().notNull(),
  phone: text('phone'),
  email: text('email'),
  areas: text('areas').array().notNull().default([]),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

export const incidentAgencies = pgTable('incident_agencies', {
  id: uuid('id').primaryKey().defaultRandom(),
  incidentId: uuid('incident_id').notNull(),
  agencyId: uuid('agency_id'),
  name: text('name').notNull(),
  kind: text('kind').$type<CalledAgency['kind']>().notNull(),
  unit: text('unit'),
  notifiedAt: moment('notified_at'),
  dispatchedAt: moment('dispatched_at'),
  arrivedAt: moment('arrived_at'),
  leftAt: moment('left_at'),
  addedBy: uuid('added_by').notNull(),
  addedAt: moment('added_at').notNull().defaultNow(),
});

export const plans = pgTable('plans', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
  incidentTypes: text('incident_types').array().$type<IncidentType[]>().notNull(),
  minSeverity: smallint('min_severity').notNull(),
  roads: text('roads').array().notNull(),
  locationIds: uuid('location_ids').array().notNull(),
  isEnabled: boolean('is_enabled').notNull(),
  version: integer('version').notNull().default(1),
  steps: jsonb('steps').$type<PlanStep[]>().notNull(),
  createdBy: uuid('created_by').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

export const works = pgTable('works', {
  id: uuid('id').primaryKey().defaultRandom(),
  title: text('title').notNull(),
  kind: text('kind').$type<WorksKind>().notNull(),
  state: text('state').$type<WorksState>().notNull().default('DRAFT'),
  description: text('description'),
  contact: text('contact'),
  road: text('road'),
  direction: text('direction').$type<Works['direction']>(),
  fromKilometre: numeric('from_kilometre', { mode: 'number' }),
  toKilometre: numeric('to_kilometre', { mode: 'number' }),
  locationId: uuid('location_id'),
  geometry: jsonb('geometry').$type<WorksGeometry>(),
  lanes: text('lanes').array().$type<LaneState[]>(),
  sensorIds: uuid('sensor_ids').array().notNull().default([]),
  startsAt: moment('starts_at').notNull(),
  endsAt: moment('ends_at').notNull(),
  timezone: text('timezone').notNull(),
  recurrence: jsonb('recurrence').$type<RotaHours>(),
  opensIncident: boolean('opens_incident').notNull().default(false),
  windowFrom: moment('window_from'),
  windowUntil: moment('window_until'),
  nextAt: moment('next_at'),
  createdBy: uuid('created_by').notNull(),
  proposedBy: uuid('proposed_by').notNull(),
  approvedBy: uuid('approved_by'),
  approvedAt: moment('approved_at'),
  cancelledBy: uuid('cancelled_by'),
  cancelReason: text('cancel_reason'),
  version: integer('version').notNull().default(1),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

export const worksWindows = pgTable('works_windows', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  worksId: uuid('works_id').notNull(),
  startsAt: moment('starts_at').notNull(),
  endsAt: moment('ends_at').notNull(),
  state: text('state').$type<Exclude<WindowState, 'PLANNED'>>().notNull(),
  beganAt: moment('began_at'),
  endedAt: moment('ended_at'),
  incidentId: uuid('incident_id'),
});

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

/** A check of a case as it is stored: without `sentences` by versions before they existed. */
type StoredCheck = Omit<CaseCheck, 'sentences'> & Partial<Pick<CaseCheck, 'sentences'>>;

/** The speed by two line crossings, as it is stored. */
export interface StoredMeasurement {
  /** The ids of the items. */
  readonly first: string;
  readonly second: string;
  readonly metres: number;
  readonly intervalMs: number;
  readonly kmh: number;
  readonly firstMark?: MarkInImage;
  readonly secondMark?: MarkInImage;
  readonly userId: string;
  /** ISO 8601. */
  readonly at: string;
}

export const cases = pgTable('cases', {
  id: uuid('id').primaryKey().defaultRandom(),
  number: text('number').notNull(),
  kind: text('kind').$type<CaseKind>().notNull(),
  state: text('state').$type<CaseState>().notNull().default('NEW'),
  version: integer('version').notNull().default(1),
  eventId: uuid('event_id'),
  incidentId: uuid('incident_id'),
  hitId: uuid('hit_id'),
  eventType: text('event_type').$type<EventType>(),
  violationType: text('violation_type'),
  title: text('title').notNull(),
  sensorId: uuid('sensor_id'),
  sensorName: text('sensor_name'),
  locationId: uuid('location_id'),
  locationName: text('location_name'),
  plate: text('plate'),
  plateKey: text('plate_key'),
  plateRegion: text('plate_region'),
  plateConfidence: smallint('plate_confidence'),
  happenedAt: moment('happened_at').notNull(),
  openedAt: moment('opened_at').notNull().defaultNow(),
  openedBy: uuid('opened_by'),
  needsSecond: boolean('needs_second').notNull(),
  firstBy: uuid('first_by'),
  firstAt: moment('first_at'),
  secondBy: uuid('second_by'),
  secondAt: moment('second_at'),
  decidedBy: uuid('decided_by'),
  decidedAt: moment('decided_at'),
  code: text('code').$type<CaseRejectionCode>(),
  codeText: text('code_text'),
  checks: jsonb('checks').$type<StoredCheck[]>(),
  checkedAt: moment('checked_at'),
  measuredKmh: doublePrecision('measured_kmh'),
  limitKmh: doublePrecision('limit_kmh'),
  toleranceKmh: doublePrecision('tolerance_kmh'),
  speedSentence: text('speed_sentence'),
  lines: jsonb('lines').$type<StoredMeasurement>(),
  holdId: uuid('hold_id'),
  lockedAt: moment('locked_at'),
  closedAt: moment('closed_at'),
  closedBy: uuid('closed_by'),
});

export const caseExports = pgTable('case_exports', {
  id: uuid('id').primaryKey().defaultRandom(),
  caseId: uuid('case_id').notNull(),
  caseNumber: text('case_number').notNull(),
  caseVersion: integer('case_version').notNull(),
  redacted: boolean('redacted').notNull(),
  status: text('status').$type<CaseExport['status']>().notNull().default('QUEUED'),
  progress: real('progress').notNull().default(0),
  attempts: integer('attempts').notNull().default(0),
  aliveAt: moment('alive_at'),
  createdBy: uuid('created_by').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  finishedAt: moment('finished_at'),
  error: text('error'),
  fileKey: text('file_key'),
  expiresAt: moment('expires_at'),
  bytes: bigint('bytes', { mode: 'number' }),
  sha256: bytea('sha256'),
  manifest: bytea('manifest'),
  signature: bytea('signature'),
  downloads: integer('downloads').notNull().default(0),
});

export const laneStates = pgTable('lane_states', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  incidentId: uuid('incident_id').notNull(),
  at: moment('at').notNull(),
  userId: uuid('user_id').notNull(),
  direction: text('direction').$type<LaneEntry['direction']>().notNull(),
  lanes: text('lanes').array().$type<LaneState[]>().notNull(),
  shoulder: text('shoulder').$type<LaneState>(),
});

export const watchlistEntries = pgTable('watchlist_entries', {
  id: uuid('id').primaryKey().defaultRandom(),
  pattern: text('pattern').notNull(),
  reason: text('reason').notNull(),
  priority: smallint('priority').notNull(),
  validFrom: moment('valid_from'),
  validUntil: moment('valid_until'),
  fuzzy: boolean('fuzzy').notNull(),
  createdBy: uuid('created_by').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
  updatedBy: uuid('updated_by'),
});

export const watchlistAlerts = pgTable('watchlist_alerts', {
  id: uuid('id').primaryKey().defaultRandom(),
  entryId: uuid('entry_id').notNull(),
  pattern: text('pattern').notNull(),
  reason: text('reason').notNull(),
  priority: smallint('priority').notNull(),
  eventId: uuid('event_id').notNull(),
  plate: text('plate').notNull(),
  sensorId: uuid('sensor_id'),
  sensorName: text('sensor_name'),
  locationName: text('location_name'),
  readAt: moment('read_at').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  acknowledgedAt: moment('acknowledged_at'),
  acknowledgedBy: uuid('acknowledged_by'),
  note: text('note'),
  vehicleKey: text('vehicle_key'),
  backlog: boolean('backlog').notNull().default(false),
  sightings: integer('sightings').notNull().default(1),
  lastReadAt: moment('last_read_at'),
  hotlistId: uuid('hotlist_id'),
  listed: jsonb('listed').$type<ListedByHotlist>(),
  kind: text('kind').$type<HitKind>(),
  differences: smallint('differences'),
  plateRegion: text('plate_region'),
  confidence: smallint('confidence'),
  state: text('state').$type<HitState>(),
  code: text('code').$type<RejectionCode>(),
  decisionNote: text('decision_note'),
  decidedBy: uuid('decided_by'),
  decidedAt: moment('decided_at'),
  releasedAt: moment('released_at'),
  outcome: text('outcome').$type<HitOutcome>(),
  outcomeBy: uuid('outcome_by'),
  outcomeAt: moment('outcome_at'),
});

/** What an entry of a hotlist said at the time of a hit. */
export interface ListedByHotlist {
  readonly region: string | null;
  readonly reference: string | null;
  readonly extra: Readonly<Record<string, string>> | null;
  /** ISO 8601. */
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  /** Of the list. */
  readonly version: number;
}

export const hotlists = pgTable('hotlists', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
  purpose: text('purpose'),
  priority: smallint('priority').notNull(),
  ownerId: uuid('owner_id').notNull(),
  visibleTo: text('visible_to').array().$type<Role[]>().notNull(),
  covert: boolean('covert').notNull(),
  verification: text('verification').$type<HotlistVerification>().notNull(),
  tolerance: text('tolerance').$type<HotlistTolerance>().notNull(),
  maxDifferences: smallint('max_differences').notNull(),
  minConfidence: smallint('min_confidence'),
  repeatMinutes: integer('repeat_minutes').notNull(),
  hitDays: integer('hit_days'),
  staleAfterHours: integer('stale_after_hours'),
  template: jsonb('template').$type<HotlistTemplate>(),
  source: jsonb('source').$type<HotlistSource>(),
  sourceState: jsonb('source_state').$type<HotlistSourceState>(),
  sourceDueAt: moment('source_due_at'),
  version: integer('version').notNull().default(0),
  entryCount: integer('entry_count').notNull().default(0),
  refreshedAt: moment('refreshed_at'),
  isActive: boolean('is_active').notNull(),
  createdBy: uuid('created_by').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedBy: uuid('updated_by'),
  updatedAt: moment('updated_at').notNull().defaultNow(),
  deletedAt: moment('deleted_at'),
});

/** What is known of the source of a hotlist. */
export interface HotlistSourceState {
  readonly etag?: string | null;
  /** Why it could not be read the last time; null if it could. */
  readonly problem: string | null;
  /** Whether the problem is that of a file that was discarded, so that it lasts until the next one comes. */
  readonly discarded?: boolean;
}

export const webhooks = pgTable('webhooks', {
  id: uuid('id').primaryKey().defaultRandom(),
  url: text('url').notNull(),
  description: text('description'),
  secret: text('secret').notNull(),
  kinds: text('kinds').array().$type<WebhookKind[]>().notNull(),
  filter: jsonb('filter').$type<WebhookFilter>().notNull(),
  enabled: boolean('enabled').notNull().default(true),
  createdBy: uuid('created_by').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

export const webhookDeliveries = pgTable('webhook_deliveries', {
  id: uuid('id').primaryKey().defaultRandom(),
  webhookId: uuid('webhook_id').notNull(),
  kind: text('kind').$type<DeliveryKind>().notNull(),
  body: text('body').notNull(),
  status: text('status').$type<DeliveryStatus>().notNull().default('PENDING'),
  attempts: integer('attempts').notNull().default(0),
  dueAt: moment('due_at').notNull().defaultNow(),
  lastAttemptAt: moment('last_attempt_at'),
  lastStatus: smallint('last_status'),
  lastAnswer: text('last_answer'),
  lastError: text('last_error'),
  createdAt: moment('created_at').notNull().defaultNow(),
  finishedAt: moment('finished_at'),
  byHand: integer('by_hand').notNull().default(0),
});

export const noticeChannels = pgTable('channels', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
  kind: text('kind').$type<ChannelKind>().notNull(),
  settings: jsonb('settings').$type<ChannelSettings>().notNull(),
  secret: text('secret'),
  plates: text('plates').$type<'HIDE' | 'SHOW'>().notNull(),
  language: text('language').$type<NoticeLanguage>().notNull(),
  enabled: boolean('enabled').notNull(),
  failingSince: moment('failing_since'),
  lastError: text('last_error'),
  createdBy: uuid('created_by').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

export const contacts = pgTable('contacts', {
  id: uuid('id').primaryKey().defaultRandom(),
  userId: uuid('user_id').notNull(),
  kind: text('kind').$type<ContactKind>().notNull(),
  address: text('address').notNull(),
  language: text('language').$type<NoticeLanguage>().notNull(),
  quiet: jsonb('quiet').$type<QuietHours>(),
  verifiedAt: moment('verified_at'),
  codeHash: text('code_hash'),
  codeAt: moment('code_at'),
  codeTries: smallint('code_tries').notNull().default(0),
  createdAt: moment('created_at').notNull().defaultNow(),
});

export const rotas = pgTable('rotas', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
  timezone: text('timezone').notNull(),
  layers: jsonb('layers').$type<RotaLayer[]>().notNull(),
  overrides: jsonb('overrides').$type<StoredOverride[]>().notNull(),
  createdBy: uuid('created_by').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

export const notices = pgTable('notices', {
  id: uuid('id').primaryKey().defaultRandom(),
  groupId: uuid('group_id'),
  step: integer('step'),
  kind: text('kind').$type<NoticeKind>().notNull(),
  severity: text('severity').$type<Severity>().notNull(),
  channelId: uuid('channel_id').notNull(),
  channelName: text('channel_name').notNull(),
  userId: uuid('user_id'),
  recipient: text('recipient').notNull(),
  subject: text('subject').notNull(),
  body: text('body').notNull(),
  status: text('status').$type<NoticeStatus>().notNull(),
  attempts: integer('attempts').notNull().default(0),
  dueAt: moment('due_at').notNull().defaultNow(),
  lastError: text('last_error'),
  lastAnswer: text('last_answer'),
  acknowledgedAt: moment('acknowledged_at'),
  createdAt: moment('created_at').notNull().defaultNow(),
  sentAt: moment('sent_at'),
});

export const studies = pgTable('studies', {
  id: uuid('id').primaryKey().defaultRandom(),
  kind: text('kind').$type<StudyKind>().notNull(),
  title: text('title').notNull(),
  notes: text('notes'),
  status: text('status').$type<StudyStatus>().notNull().default('DRAFT'),
  subject: jsonb('subject').$type<StudySubject>().notNull(),
  placeName: text('place_name').notNull(),
  startsAt: moment('starts_at').notNull(),
  endsAt: moment('ends_at').notNull(),
  settings: jsonb('settings').$type<TimezoneSettings>().notNull(),
  author: uuid('author').notNull(),
  authorName: text('author_name').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  frozenBy: uuid('frozen_by'),
  frozenByName: text('frozen_by_name'),
  frozenAt: moment('frozen_at'),
  programVersion: text('program_version'),
  hash: text('hash'),
  data: jsonb('data').$type<StudyTable>(),
  figures: jsonb('figures').$type<Record<string, unknown>>(),
  reviewer: uuid('reviewer'),
  reviewerName: text('reviewer_name'),
  reviewedAt: moment('reviewed_at'),
  reason: text('reason'),
});

export const reports = pgTable('reports', {
  id: uuid('id').primaryKey().defaultRandom(),
  kind: text('kind').$type<ReportFileKind>().notNull(),
  format: text('format').$type<ReportFormat>().notNull(),
  status: text('status').$type<ReportStatus>().notNull().default('QUEUED'),
  filters: jsonb('filters').$type<ReportFilters>().notNull(),
  startsAt: moment('starts_at').notNull(),
  endsAt: moment('ends_at').notNull(),
  settings: jsonb('settings').$type<TimezoneSettings>().notNull(),
  createdBy: uuid('created_by').notNull(),
  studyId: uuid('study_id'),
  scheduleId: uuid('schedule_id'),
  dueAt: moment('due_at'),
  createdAt: moment('created_at').notNull().defaultNow(),
  startedAt: moment('started_at'),
  finishedAt: moment('finished_at'),
  progress: real('progress').notNull().default(0),
  rowCount: bigint('row_count', { mode: 'number' }).notNull().default(0),
  attempts: smallint('attempts').notNull().default(0),
  aliveAt: moment('alive_at'),
  fileKey: text('file_key'),
  size: bigint('size', { mode: 'number' }),
  error: text('error'),
  hidesPlates: boolean('hides_plates').notNull().default(false),
  csv: jsonb('csv').$type<CsvChoice>(),
});

export const situationReportRows = pgTable('situation_reports', {
  id: uuid('id').primaryKey().defaultRandom(),
  incidentId: uuid('incident_id').notNull(),
  number: integer('number').notNull(),
  kind: text('kind').$type<SituationReportKind>().notNull(),
  audience: text('audience').$type<NoteAudience>().notNull(),
  recipients: text('recipients').array().notNull().default([]),
  subject: text('subject'),
  message: text('message'),
  reportId: uuid('report_id').notNull(),
  sha256: text('sha256'),
  createdBy: uuid('created_by').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
});

export const reportSchedules = pgTable('report_schedules', {
  id: uuid('id').primaryKey().defaultRandom(),
  kind: text('kind').$type<ReportKind>().notNull(),
  format: text('format').$type<ReportFormat>().notNull(),
  filters: jsonb('filters').$type<ReportFilters>().notNull(),
  every: text('every').$type<ReportPeriod>().notNull(),
  hour: smallint('hour').notNull(),
  weekday: smallint('weekday'),
  dayOfMonth: smallint('day_of_month'),
  enabled: boolean('enabled').notNull(),
  timezone: text('timezone').notNull(),
  nextRunAt: moment('next_run_at'),
  lastRunAt: moment('last_run_at'),
  createdBy: uuid('created_by').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
  hidesPlates: boolean('hides_plates').notNull().default(false),
  csv: jsonb('csv').$type<CsvChoice>(),
  sendTo: jsonb('send_to').$type<SendTo>(),
});

export const reportDispatches = pgTable('report_dispatches', {
  id: uuid('id').primaryKey().defaultRandom(),
  reportId: uuid('report_id').notNull(),
  scheduleId: uuid('schedule_id'),
  kind: text('kind').$type<DispatchKind>().notNull(),
  recipient: text('recipient').notNull(),
  status: text('status').$type<DispatchStatus>().notNull().default('PENDING'),
  attempts: integer('attempts').notNull().default(0),
  dueAt: moment('due_at').notNull().defaultNow(),
  lastError: text('last_error'),
  createdAt: moment('created_at').notNull().defaultNow(),
  sentAt: moment('sent_at'),
});
