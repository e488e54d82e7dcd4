import type { z } from 'zod';

/** The id in the examples. No object has it: readers replace it with an id of their installation. */
const ID = '01900000-0000-7000-8000-000000000001';
const KEY = '0'.repeat(64);
const MONTH = { startDate: '2026-01-01', endDate: '2026-01-31' };

/** The examples of procedures whose input is more than an id. */
const examples: Readonly<Record<string, object>> = {
  'auth.login': { email: 'admin@gantry.local', password: 'Correct-horse-1' },
  'auth.completeOidcLogin': { code: 'c0de'.repeat(11), verifier: 'v3rifier'.repeat(6) },
  'secondFactor.start': { password: 'Correct-horse-1' },
  'secondFactor.confirm': { code: '123456' },
  'secondFactor.renewRecoveryCodes': { password: 'Correct-horse-1', code: '123456' },
  'secondFactor.disable': { password: 'Correct-horse-1', code: '123456' },
  'apiTokens.create': {
    name: 'Traffic model',
    role: 'VIEWER',
    expiresInDays: 90,
    password: 'Correct-horse-1',
  },
  'auth.changePassword': { currentPassword: 'Correct-horse-1', newPassword: 'Correct-horse-2' },
  'sensors.getAll': { take: 10, status: 'ONLINE', sortBy: 'name', sortOrder: 'asc' },
  'sensors.create': {
    name: 'Camera north',
    deviceId: 'cam-north-1',
    type: 'CAMERA',
    eventsPerMin: 60,
    coordinates: { latitude: 52.52, longitude: 13.405, address: 'Ring 1' },
  },
  'sensors.update': { id: ID, name: 'Camera north, lane 2', requiresHeartbeats: true },
  'sensors.rotateKey': { id: ID, overlapMinutes: 60 },
  'sensors.heartbeat': { apiKey: KEY, firmware: '2.4.1', issues: [] },
  'sensors.getStatusHistory': { id: ID, take: 20 },
  'sensors.onStatusChanged': { status: 'OFFLINE' },
  'connections.create': { sensorId: ID, format: 'gantry' },
  'connections.update': { id: ID, timeZone: 'Europe/Berlin' },
  'connections.getMessages': { connectionId: ID },
  'connections.onMessage': { connectionId: ID },
  'connections.replay': { messageId: ID },
  'events.ingest': {
    apiKey: KEY,
    eventType: 'SPEED_DETECTION',
    licensePlateNumber: 'B AB 1234',
    vehicleType: 'CAR',
    vehicleSpeed: 63.5,
    timestamp: '2026-01-31T08:15:00.000Z',
    idempotencyKey: 'cam-north-1/000042',
  },
  'events.ingestBatch': {
    apiKey: KEY,
    events: [
      { eventType: 'VEHICLE_DETECTION', vehicleType: 'CAR', vehicleSpeed: 48 },
      { eventType: 'INCIDENT', description: 'Object on lane 2', severity: 'HIGH' },
    ],
  },
  'counts.ingest': {
    apiKey: KEY,
    periods: [
      { start: '2026-01-31T08:00:00Z', seconds: 900, direction: 'NB', lane: 1, volume: 42 },
      {
        start: '2026-01-31T08:00:00Z',
        seconds: 900,
        direction: 'NB',
        lane: 2,
        byClass: { scheme: 'BASIC', counts: { CAR: 31, TRUCK: 4 } },
      },
      { start: '2026-01-31T08:15:00Z', seconds: 900, direction: 'NB', lane: 1, volume: null },
    ],
  },
  'events.getAll': { ...MONTH, eventType: 'SPEED_DETECTION', take: 20 },
  'events.getRecent': { limit: 10 },
  'events.review': { id: ID, decision: 'CONFIRMED' },
  'events.reviewBatch': { events: [{ id: ID }], decision: 'REJECTED', reason: 'The plate is not legible' },
  'events.getReviews': { eventIds: [ID] },
  'events.getStats': MONTH,
  'events.onIngested': { eventType: 'INCIDENT' },
  'locations.getAll': { take: 10 },
  'locations.create': { name: 'Ring 1, northbound', address: 'Ring 1', speedLimit: 50 },
  'locations.update': { id: ID, speedLimit: 30 },
  'traffic.getFlow': { ...MONTH, locationId: ID, interval: '60min' },
  'traffic.getSpeedDistribution': { ...MONTH, locationId: ID },
  'traffic.getHourOfWeek': { ...MONTH, locationId: ID },
  'traffic.getTopLocations': { ...MONTH, limit: 5 },
  'traffic.getCounts': { ...MONTH, locationId: ID, by: ['direction'] },
  'traffic.getPeakHours': { ...MONTH, locationId: ID, windows: ['AM', 'PM'] },
  'traffic.getTurningMovements': { ...MONTH, locationId: ID },
  'traffic.getDailyVolumes': { ...MONTH, locationId: ID },
  'traffic.getAadt': { locationId: ID, year: 2025 },
  'traffic.getFactors': { locationId: ID, year: 2025 },
  'traffic.getDesignHours': { locationId: ID, year: 2025 },
  'traffic.getSpeedStudy': { ...MONTH, locationId: ID, days: [2, 3, 4], hours: ['09:00-15:30'] },
  'traffic.compareStudies': { before: { ...MONTH, locationId: ID }, after: { ...MONTH, locationId: ID } },
  'webhooks.create': { url: 'https://example.com/gantry', kinds: ['event.violation'] },
  'webhooks.update': { id: ID, enabled: false },
  'webhooks.getDeliveries': { webhookId: ID },
  'incidents.getAll': { status: ['OPEN', 'ACKNOWLEDGED'], take: 20 },
  'incidents.getStats': MONTH,
  'incidents.create': { title: 'Debris on lane 2', type: 'OBSTRUCTION', severity: 'HIGH', lanesBlocked: 1 },
  'incidents.update': { id: ID, lanesBlocked: 2 },
  'incidents.assign': { id: ID, userId: null },
  'incidents.resolve': { id: ID, note: 'Removed' },
  'incidents.reopen': { id: ID, note: 'It is there again' },
  'incidents.addNote': { id: ID, note: 'Patrol is on its way' },
  'incidents.attachEvent': { id: ID, eventId: ID },
  'watchlist.getAll': { take: 20 },
  'watchlist.create': { pattern: 'B AB 12*', reason: 'Stolen vehicle, case 17', priority: 'HIGH' },
  'watchlist.update': { id: ID, priority: 'LOW' },
  'watchlist.getAlerts': { take: 20 },
  'watchlist.acknowledgeAlert': { id: ID, note: 'Patrol informed' },
  'live.onAny': { topics: ['events', 'incidents'] },
  'users.getAll': { take: 10 },
  'users.create': {
    email: 'operator@example.org',
    password: 'Correct-horse-1',
    firstName: 'Olga',
    lastName: 'Operator',
    role: 'OPERATOR',
  },
  'users.update': { id: ID, department: 'Night shift' },
  'users.updateRole': { userId: ID, role: 'ANALYST' },
  'users.resetPassword': { userId: ID },
  'users.resetSecondFactor': { userId: ID },
  'users.getActivity': { userId: ID, take: 20 },
  'users.getActivityLog': { take: 20 },
  'users.getActivityEntry': { id: '1' },
  'reports.getAnalytics': MONTH,
  'reports.getRepeatPlates': MONTH,
  'reports.generate': { ...MONTH, kind: 'EVENTS', format: 'CSV' },
  'reports.createSchedule': { kind: 'DAILY_SUMMARY', format: 'PDF', every: 'DAILY', hour: 6 },
  'reports.updateSchedule': { id: ID, enabled: false },
  'storage.setRetention': { events: { default: 365 } },
  'storage.previewRetention': { events: { default: 90 } },
  'storage.setHold': { eventIds: [ID], reason: 'Case 17' },
  'backups.getAll': { take: 10 },
  'views.getAll': { page: 'events' },
  'views.create': { page: 'events', name: 'Speeding today', search: 'violationType=SPEEDING' },
  'views.update': { id: ID, name: 'Speeding' },
  'views.setDefault': { page: 'events', id: null },
  'system.timezone.updateTimezoneSettings': { timezone: 'Europe/Berlin', use24HourFormat: true },
};

/** The inputs of all other procedures: the first one that the schema accepts is the example. */
const ORDINARY: readonly object[] = [{}, { id: ID }, { ids: [ID] }];

/**
 * An example of the input of a procedure. Inputs without values of an installation, such as ids and keys, succeed as they
 * are; the others do once these values are replaced. Null for a procedure that needs an entry above and has none.
 */
export function exampleFor(path: string, schema: z.ZodType): object | null {
  return examples[path] ?? ORDINARY.find((each) => schema.safeParse(each).success) ?? null;
}
