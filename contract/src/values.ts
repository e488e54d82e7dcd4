// Values of enumerations, and limits. Does not import zod, so that pages whose script must stay small can use it.

/** The message (FORBIDDEN) of the procedures of a feature that an operator has switched off. */
export const featureOff = (feature: string): string =>
  `The feature "${feature}" is disabled: an administrator can add it to the setting FEATURES`;

/** Roles, from the most to the least privileged. */
export const roles = ['ADMIN', 'OPERATOR', 'ANALYST', 'FIELD', 'VIEWER'] as const;

export const eventTypes = [
  'TRAFFIC_VIOLATION',
  'SEATBELT_VIOLATION',
  'VEHICLE_DETECTION',
  'SPEED_DETECTION',
  'PLATE_RECOGNITION',
  'INCIDENT',
] as const;

/** The types of events for which retention may have a shorter rule without a hit: those that are no violations and no incidents. */
export const typesWithoutHit = [
  'VEHICLE_DETECTION',
  'SPEED_DETECTION',
  'PLATE_RECOGNITION',
] as const satisfies readonly (typeof eventTypes)[number][];

/** The filters of events that reports of violations have, too. */
const filtersOfReads = [
  'severities',
  'plateRegion',
  'minConfidence',
  'lane',
  'direction',
  'minSpeed',
  'maxSpeed',
  'minExcess',
  'hours',
  'weekdays',
  'sensorTags',
  'road',
  'fromKilometre',
  'toKilometre',
] as const;

/** The filters of events, by the names of the inputs of `events.getAll`. */
export const eventFilterNames = [
  'eventType',
  'sensorId',
  'processed',
  'archived',
  'violationType',
  'licensePlateNumber',
  'vehicleType',
  'locationName',
  ...filtersOfReads,
] as const;

/**
 * Time within which reviews, archiving and the acknowledgement of alerts can be undone, in minutes. Changing thousands of
 * events takes less, so the first of them can still be undone together with the last.
 */
export const UNDO_MINUTES = 10;

/** From least to most urgent. */
export const severities = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const;

export const incidentTypes = [
  'COLLISION',
  'BREAKDOWN',
  'OBSTRUCTION',
  'ROADWORKS',
  'WEATHER',
  'CONGESTION',
  'WRONG_WAY_DRIVER',
  'OTHER',
] as const;

/**
 * The names of the types in the titles of incidents that the service opens by itself, such as "Collision at Main
 * Street". A client can translate such a title.
 */
export const incidentTypeNames: { readonly [Type in (typeof incidentTypes)[number]]: string } = {
  COLLISION: 'Collision',
  BREAKDOWN: 'Breakdown',
  OBSTRUCTION: 'Obstruction',
  ROADWORKS: 'Roadworks',
  WEATHER: 'Weather',
  CONGESTION: 'Congestion',
  WRONG_WAY_DRIVER: 'Wrong-way driver',
  OTHER: 'Incident',
};

/** In the order in which an incident goes through them. */
export const incidentStatuses = ['OPEN', 'ACKNOWLEDGED', 'IN_PROGRESS', 'RESOLVED', 'CLOSED'] as const;

export const sortOrders = ['asc', 'desc'] as const;

export const reportKinds = [
  'VIOLATIONS',
  'EVENTS',
  'TRAFFIC',
  'INCIDENTS',
  'INCIDENT_PERFORMANCE',
  'INCIDENT_CHRONOLOGY',
  'SENSOR_HEALTH',
  'DAILY_SUMMARY',
] as const;

/** Kinds of files: reports, and studies. */
export const reportFileKinds = [...reportKinds, 'STUDY'] as const;

/** The feature that a kind of report needs in addition to `reports`. If it is switched off, the report is refused. */
export const featureOfReport: { readonly [Kind in (typeof reportKinds)[number]]?: 'traffic' | 'incidents' } =
  {
    TRAFFIC: 'traffic',
    INCIDENTS: 'incidents',
    INCIDENT_PERFORMANCE: 'incidents',
    INCIDENT_CHRONOLOGY: 'incidents',
  };

/** The filters that apply to each kind of report; others are refused. */
export const filtersOfKind = {
  VIOLATIONS: [
    'eventType',
    'violationType',
    'vehicleType',
    'licensePlateNumber',
    'severity',
    'sensorId',
    'locationId',
    ...filtersOfReads,
  ],
  EVENTS: eventFilterNames,
  TRAFFIC: ['vehicleType', 'sensorId', 'locationId'],
  INCIDENTS: ['severity', 'sensorId', 'locationId', 'incidentType', 'incidentStatus'],
  INCIDENT_PERFORMANCE: ['severity', 'sensorId', 'locationId', 'incidentType'],
  INCIDENT_CHRONOLOGY: ['incidentId'],
  SENSOR_HEALTH: ['sensorId', 'locationId', 'sensorType'],
  DAILY_SUMMARY: [],
} as const satisfies Record<(typeof reportKinds)[number], readonly string[]>;

export const studyKinds = ['VOLUME', 'SPEED', 'TURNING_MOVEMENTS', 'PEAK_HOURS', 'COMPARISON'] as const;

/** The reviewer decides between the last two. */
export const studyStatuses = ['DRAFT', 'FROZEN', 'SIGNED', 'REJECTED'] as const;

export const reportFormats = ['CSV', 'XLSX', 'PDF'] as const;

export const reportStatuses = ['QUEUED', 'RUNNING', 'DONE', 'FAILED', 'CANCELLED'] as const;

/** The frequency of a report schedule. */
export const reportPeriods = ['DAILY', 'WEEKLY', 'MONTHLY'] as const;

/** The field of a schedule with the day, for each period that needs one. */
export const dayFieldOf = {
  DAILY: null,
  WEEKLY: 'weekday',
  MONTHLY: 'dayOfMonth',
} as const satisfies Record<(typeof reportPeriods)[number], string | null>;

export const sensorTypes = ['CAMERA', 'RADAR', 'ANPR', 'SPEED_DETECTOR', 'EDGE_CONTROLLER'] as const;

/** The beginning of the reason for a status change to ERROR. The issues follow, as the device named them. */
export const CRITICAL_ISSUE = 'critical issue: ';

export const sensorStatuses = ['ONLINE', 'OFFLINE', 'MAINTENANCE', 'ERROR'] as const;

export const clockStates = ['OK', 'WARNING', 'ERROR', 'UNKNOWN'] as const;
export const clockHints = ['CLOCK', 'TIME_ZONE', 'LATE'] as const;

/** The units of speeds. */
export const speedUnitNames = ['KMH', 'MPH'] as const;
export type SpeedUnits = (typeof speedUnitNames)[number];

export const trafficIntervals = ['5min', '15min', '60min', 'day'] as const;

/** Maximum number of intervals in one answer about traffic. */
export const MAX_POINTS = 10_000;

export const topics = [
  'events',
  'sensors',
  'incidents',
  'watchlist',
  'hits',
  'alarms',
  'log',
  'works',
  'faults',
  'cases',
] as const;

/** The kinds of entries in the log, and of what they refer to. */
export const logKinds = ['NOTE', 'CALL', 'INSTRUCTION', 'FAULT', 'VISIT'] as const;
export const logRefKinds = ['INCIDENT', 'SENSOR', 'LOCATION'] as const;
/** Maximum length of an entry in the log. */
export const MAX_LOG_TEXT = 4_000;

export const shiftStates = ['OPEN', 'HANDED_OVER', 'ENDED'] as const;

/** Maximum number of images in one note of an incident. */
export const MAX_NOTE_IMAGES = 5;

/** Maximum number of events in one hold. */
export const MAX_HELD_EVENTS = 1000;

/** Maximum number of items in one batch. */
export const MAX_BATCH_ITEMS = 100;

/** The formats in which devices report through connections. `gantry` is the service's own. */
export const deviceFormats = [
  'hikvision',
  'dahua',
  'platerecognizer',
  'openalpr',
  'frigate',
  'axis-lpv',
  'axis-aoa',
  'unifi-protect',
  'tvt',
  'milesight',
  'verkada',
  'tattile',
  'codeproject',
  'huawei',
  'uniview',
  'genetec',
  'ops243',
  'fiware',
  'datex2',
  'sensorthings',
  'mapped',
  'gantry',
] as const;

/** What may be wrong with the MQTT topics of a connection. */
export const topicsWarnings = ['NO_TOPIC', 'EVERY_DEVICE'] as const;

/**
 * What became of a device's message. RECEIVED: not processed yet; STORED: at least one new event; DUPLICATE: only
 * events that were stored before; HELD: part of the observation of one vehicle, which is stored when it is complete;
 * ALIVE: a heartbeat or status; AGGREGATE: figures of several vehicles, which are not events; IGNORED: nothing that
 * Gantry records; UNKNOWN_DEVICE: from a device of an NVR that is not assigned to a sensor; REFUSED: it cannot be
 * read, or the event is invalid; FAILED: the service failed, and tries again.
 */
export const messageStatuses = [
  'RECEIVED',
  'STORED',
  'DUPLICATE',
  'HELD',
  'ALIVE',
  'AGGREGATE',
  'IGNORED',
  'UNKNOWN_DEVICE',
  'REFUSED',
  'FAILED',
] as const;

/** Directions of travel: NB is travelling north, CW is clockwise on a ring. */
export const directions = ['NB', 'NE', 'EB', 'SE', 'SB', 'SW', 'WB', 'NW', 'CW', 'CCW'] as const;
/** Directions as seen from the device; its assignment says which direction of travel that is. */
export const relativeDirections = ['APPROACHING', 'RECEDING'] as const;
/** Directions of travel at a place. */
export const pointDirections = [...directions, 'BOTH'] as const;

/** The legs of an intersection by the side on which they lie. */
export const legs = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'] as const;

/** Left, through, right, and back. */
export const turns = ['L', 'T', 'R', 'U'] as const;

/** Longest silence of users who are not administrators, in hours. */
export const MAX_SILENCE_HOURS = 8;

/** What rules of alarms are about. The list is closed: there is no language for conditions. */
export const alarmSources = [
  'SENSOR_STATUS',
  'SENSOR_ISSUE',
  'SENSOR_PLAUSIBILITY',
  'TRAFFIC',
  'EVENT_RATE',
  'INCIDENT_UNATTENDED',
  'HIT',
  'HOTLIST',
  'CERTIFICATE',
  'INTAKE',
  'SYSTEM',
] as const;

export const plausibilityChecks = ['SILENT', 'STUCK', 'CHATTER', 'SPIKE', 'CLOCK', 'READ_RATE'] as const;
/** What may be wrong with a hotlist. */
export const hotlistTroubles = ['STALE', 'REFUSED', 'SOURCE'] as const;
export const trafficMeasures = ['meanSpeed', 'v85', 'volumePerHour', 'shareOverLimit'] as const;
/** What is sealed. */
export const sealKinds = ['KEY', 'EVENT', 'ACTIVITY', 'LOG', 'CASE_LOG', 'CERTIFICATE'] as const;
/** Which events are sealed. */
export const sealModes = ['evidence', 'all', 'off'] as const;
/** What may be wrong with seals. */
export const sealFaults = [
  'GAP',
  'CHAIN',
  'TEXT',
  'ROOT',
  'KEY',
  'SIGNATURE',
  'CHANGED',
  'MISSING',
  'CHECKPOINT',
] as const;
export const systemParts = [
  'DISK',
  'BACKUP',
  'CLOCK',
  'WEBHOOKS',
  'CHANNEL',
  'DUTY',
  'HANDOVER',
  'SEAL',
] as const;

/** The threshold of each part of the system if none is given: %, hours, seconds, and numbers. */
export const SYSTEM_THRESHOLDS: Readonly<Record<(typeof systemParts)[number], number>> = {
  DISK: 10,
  BACKUP: 36,
  CLOCK: 5,
  WEBHOOKS: 1,
  CHANNEL: 1,
  DUTY: 1,
  HANDOVER: 30,
  SEAL: 1,
};

export const caseKinds = ['VIOLATION', 'INCIDENT', 'HIT'] as const;
/** In the order in which a case usually goes through them; `case-states` says which state follows which. */
export const caseStates = ['NEW', 'CHECKED', 'VERIFIED', 'DISPUTED', 'REJECTED', 'EXPORTED'] as const;
/** Why a case is rejected. OTHER needs a text. */
export const rejectionCodes = [
  'UNREADABLE',
  'TWO_VEHICLES',
  'EXEMPT_VEHICLE',
  'EQUIPMENT',
  'CERTIFICATE',
  'LIMIT_UNCLEAR',
  'BELOW_TOLERANCE',
  'OTHER',
] as const;
export const caseItemRoles = [
  'FIRST',
  'SECOND',
  'PLATE',
  'OVERVIEW',
  'CONTEXT',
  'CERTIFICATE',
  'NOTE',
  'RAW_MESSAGE',
] as const;
export const caseCheckNames = [
  'CERTIFICATES',
  'SENSOR',
  'CLOCK',
  'LIMIT',
  'SPEED',
  'PLATE',
  'IMAGES',
  'SECONDARY',
] as const;
export const checkResults = ['PASS', 'FAIL', 'UNKNOWN'] as const;
/** What the log of a case records. */
export const caseActions = [
  'opened',
  'itemAdded',
  'measured',
  'checked',
  'verified',
  'rejected',
  'disputed',
  'decided',
  'unlocked',
  'exported',
  'downloaded',
  'closed',
  'noted',
] as const;
/** The states of an evidence package. */
export const packageStates = ['QUEUED', 'RUNNING', 'DONE', 'FAILED'] as const;
export const certificateKinds = ['TYPE_APPROVAL', 'CALIBRATION', 'DISTANCE', 'CLOCK'] as const;
/** EXPIRING: within 30 days. */
export const certificateStates = ['VALID', 'EXPIRING', 'EXPIRED', 'FUTURE', 'WITHDRAWN'] as const;
/** Within how many days of its end a certificate is EXPIRING. */
export const EXPIRING_DAYS = 30;

/** Whether a look-up was justified, as an audit judges it. */
export const auditVerdicts = ['JUSTIFIED', 'UNJUSTIFIED', 'UNCLEAR'] as const;
