import createRouter from 'find-my-way';
import { WireError } from '../../rpc/errors.ts';

/** One address of the REST form of the API, and the procedure that it calls. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Names in braces are fields of the procedure's input. */
  readonly path: string;
  readonly procedure: string;
  /** The source of the other fields of the input. */
  readonly input: 'query' | 'body';
  /** The status of success. 200 by default. */
  readonly status?: 200 | 201 | 204;
  /** For 201: the field of the answer with the id of the created object, and what precedes it in a relative address. */
  readonly created?: { readonly field: string; readonly under: string };
  /** The procedure that is called instead if the body is an array, and the field of its input for the array. */
  readonly ofArrays?: { readonly procedure: string; readonly field: string };
}

type More = Omit<Route, 'method' | 'path' | 'procedure' | 'input'>;

const read = (path: string, procedure: string): Route => ({ method: 'GET', path, procedure, input: 'query' });
const write =
  (method: Route['method']) =>
  (path: string, procedure: string, more: More = {}): Route => ({
    method,
    path,
    procedure,
    input: 'body',
    ...more,
  });
const post = write('POST');
const put = write('PUT');
const patch = write('PATCH');
const create = (path: string, procedure: string): Route =>
  post(path, procedure, {
    status: 201,
    created: { field: 'id', under: `${path.split('/').at(-1)}` },
  });
const remove = (path: string, procedure: string): Route => ({
  method: 'DELETE',
  path,
  procedure,
  input: 'query',
  status: 204,
});

/** The REST form of the API. Fixed parts of a path take precedence over names in braces. */
export const routes: readonly Route[] = [
  post('/v1/events', 'events.ingest', {
    status: 201,
    created: { field: 'eventId', under: 'events' },
    ofArrays: { procedure: 'events.ingestBatch', field: 'events' },
  }),
  read('/v1/events', 'events.getAll'),
  read('/v1/events/recent', 'events.getRecent'),
  read('/v1/events/stats', 'events.getStats'),
  read('/v1/events/types', 'events.getEventTypes'),
  read('/v1/events/reviews', 'events.getReviews'),
  read('/v1/events/{id}', 'events.getById'),
  remove('/v1/events/{id}', 'events.delete'),
  read('/v1/events/{id}/history', 'events.getHistory'),
  put('/v1/events/{id}/processed', 'events.markAsProcessed', { status: 204 }),
  put('/v1/events/{id}/archived', 'events.markAsArchived', { status: 204 }),
  put('/v1/events/{id}/review', 'events.review'),
  remove('/v1/events/{id}/review', 'events.undoReview'),
  read('/v1/stream', 'live.onAny'),
  post('/v1/counts', 'counts.ingest'),
  post('/v1/counts/files', 'counts.import'),

  // GET is for devices that cannot post.
  read('/v1/heartbeat', 'sensors.heartbeat'),
  post('/v1/heartbeat', 'sensors.heartbeat'),

  read('/v1/sensors', 'sensors.getAll'),
  create('/v1/sensors', 'sensors.create'),
  read('/v1/sensors/fleet', 'sensors.getFleet'),
  read('/v1/sensors/models', 'sensors.getModels'),
  read('/v1/sensors/tags', 'sensors.getTags'),
  patch('/v1/sensors', 'sensors.updateMany'),
  post('/v1/sensors/restore', 'sensors.restoreMany'),
  post('/v1/sensors/files', 'sensors.import'),
  read('/v1/sensors/files', 'sensors.export'),
  read('/v1/sensors/{id}', 'sensors.getById'),
  patch('/v1/sensors/{id}', 'sensors.update'),
  remove('/v1/sensors/{id}', 'sensors.delete'),
  read('/v1/sensors/{id}/status-history', 'sensors.getStatusHistory'),
  read('/v1/sensors/{id}/signs-of-life', 'sensors.getSignsOfLife'),
  read('/v1/sensors/{id}/clock', 'sensors.getClock'),
  read('/v1/sensors/{id}/key', 'sensors.getKeyInfo'),
  post('/v1/sensors/{id}/key', 'sensors.rotateKey'),
  post('/v1/sensors/{id}/ping', 'sensors.ping'),

  read('/v1/faults', 'faults.getAll'),
  create('/v1/faults', 'faults.report'),
  read('/v1/faults/{id}', 'faults.getById'),
  patch('/v1/faults/{id}', 'faults.update'),

  read('/v1/locations', 'locations.getAll'),
  create('/v1/locations', 'locations.create'),
  read('/v1/locations/roads', 'locations.getRoads'),
  post('/v1/locations/files', 'locations.import'),
  read('/v1/locations/files', 'locations.export'),
  read('/v1/locations/{id}', 'locations.getById'),
  patch('/v1/locations/{id}', 'locations.update'),
  remove('/v1/locations/{id}', 'locations.delete'),
  read('/v1/points', 'points.list'),
  create('/v1/points', 'points.create'),
  patch('/v1/points/{id}', 'points.update'),
  remove('/v1/points/{id}', 'points.delete'),
  read('/v1/assignments', 'assignments.list'),
  create('/v1/assignments', 'assignments.create'),
  patch('/v1/assignments/{id}', 'assignments.update'),
  remove('/v1/assignments/{id}', 'assignments.delete'),

  read('/v1/incidents', 'incidents.getAll'),
  create('/v1/incidents', 'incidents.create'),
  read('/v1/incidents/stats', 'incidents.getStats'),
  read('/v1/incidents/assignees', 'incidents.getAssignees'),
  read('/v1/incidents/{id}', 'incidents.getById'),
  patch('/v1/incidents/{id}', 'incidents.update'),
  post('/v1/incidents/{id}/acknowledge', 'incidents.acknowledge'),
  post('/v1/incidents/{id}/assign', 'incidents.assign'),
  post('/v1/incidents/{id}/start', 'incidents.start'),
  post('/v1/incidents/{id}/resolve', 'incidents.resolve'),
  post('/v1/incidents/{id}/close', 'incidents.close'),
  post('/v1/incidents/{id}/reopen', 'incidents.reopen'),
  post('/v1/incidents/{id}/notes', 'incidents.addNote'),
  post('/v1/incidents/{id}/events', 'incidents.attachEvent'),
  read('/v1/incidents/{id}/cameras', 'incidents.getCameras'),
  post('/v1/incidents/{id}/verify', 'incidents.verify'),
  post('/v1/incidents/{id}/reject', 'incidents.rejectFalse'),
  patch('/v1/incidents/{id}/times', 'incidents.setTimes'),
  post('/v1/incidents/{id}/lanes', 'incidents.setLanes'),
  patch('/v1/incidents/{id}/facts', 'incidents.setFacts'),
  post('/v1/incidents/{id}/agencies', 'incidents.addAgency'),
  patch('/v1/incidents/{id}/agencies/{entryId}', 'incidents.updateAgency'),
  post('/v1/incidents/{id}/agencies/{entryId}/remove', 'incidents.removeAgency'),
  post('/v1/incidents/{id}/merge', 'incidents.merge'),
  put('/v1/incidents/{id}/plan', 'incidents.setPlan'),
  post('/v1/incidents/{id}/steps/{key}/complete', 'incidents.completeStep'),
  post('/v1/incidents/{id}/steps/{key}/skip', 'incidents.skipStep'),
  post('/v1/incidents/{id}/steps/{key}/reopen', 'incidents.reopenStep'),
  read('/v1/incidents/{id}/steps/{key}/notice', 'incidents.getStepNotice'),
  post('/v1/incidents/{id}/steps/{key}/notice', 'incidents.sendStepNotice'),
  read('/v1/incidents/{id}/reports', 'incidents.getReports'),
  post('/v1/incidents/{id}/reports', 'incidents.makeReport'),
  read('/v1/incidents/{id}/reports/preview', 'incidents.getReportPreview'),
  read('/v1/plans', 'plans.getAll'),
  create('/v1/plans', 'plans.create'),
  read('/v1/plans/{id}', 'plans.getById'),
  patch('/v1/plans/{id}', 'plans.update'),
  remove('/v1/plans/{id}', 'plans.delete'),
  read('/v1/activity/feed', 'audit.getActivity'),
  read('/v1/audit/samples', 'audit.getSamples'),
  create('/v1/audit/samples', 'audit.drawSample'),
  read('/v1/audit/samples/{id}', 'audit.getSample'),
  post('/v1/audit/entries/{entryId}/judgements', 'audit.judge'),
  read('/v1/evidence', 'evidence.getStatus'),
  read('/v1/events/{eventId}/proof', 'evidence.getProof'),
  read('/v1/cases', 'cases.getAll'),
  create('/v1/cases', 'cases.open'),
  read('/v1/cases/stats', 'cases.getStats'),
  read('/v1/cases/rules', 'cases.getRules'),
  patch('/v1/cases/rules', 'cases.updateRules'),
  read('/v1/cases/{id}', 'cases.getById'),
  post('/v1/cases/{id}/items', 'cases.addItem'),
  post('/v1/cases/{id}/measure', 'cases.measure'),
  post('/v1/cases/{id}/check', 'cases.check'),
  post('/v1/cases/{id}/verify', 'cases.verify'),
  post('/v1/cases/{id}/reject', 'cases.reject'),
  post('/v1/cases/{id}/dispute', 'cases.dispute'),
  post('/v1/cases/{id}/decide', 'cases.decide'),
  post('/v1/cases/{id}/unlock', 'cases.unlock'),
  post('/v1/cases/{id}/close', 'cases.close'),
  post('/v1/cases/{id}/exports', 'cases.export'),
  read('/v1/cases/exports/{exportId}', 'cases.getExport'),
  read('/v1/certificates', 'certificates.getAll'),
  create('/v1/certificates', 'certificates.add'),
  read('/v1/certificates/{id}', 'certificates.getById'),
  post('/v1/certificates/{id}/withdraw', 'certificates.withdraw'),
  read('/v1/works', 'works.getAll'),
  create('/v1/works', 'works.create'),
  read('/v1/works/windows', 'works.getWindows'),
  read('/v1/works/{id}', 'works.getById'),
  patch('/v1/works/{id}', 'works.update'),
  post('/v1/works/{id}/approve', 'works.approve'),
  post('/v1/works/{id}/cancel', 'works.cancel'),
  read('/v1/agencies', 'agencies.getAll'),
  create('/v1/agencies', 'agencies.create'),
  read('/v1/agencies/{id}', 'agencies.getById'),
  patch('/v1/agencies/{id}', 'agencies.update'),
  remove('/v1/agencies/{id}', 'agencies.delete'),

  read('/v1/watchlist', 'watchlist.getAll'),
  create('/v1/watchlist', 'watchlist.create'),
  read('/v1/watchlist/{id}', 'watchlist.getById'),
  patch('/v1/watchlist/{id}', 'watchlist.update'),
  remove('/v1/watchlist/{id}', 'watchlist.delete'),
  read('/v1/alerts', 'watchlist.getAlerts'),
  read('/v1/alerts/{id}', 'watchlist.getAlert'),
  post('/v1/alerts/{id}/acknowledge', 'watchlist.acknowledgeAlert'),

  read('/v1/hotlists', 'hotlists.getAll'),
  create('/v1/hotlists', 'hotlists.create'),
  read('/v1/hotlists/{id}', 'hotlists.getById'),
  patch('/v1/hotlists/{id}', 'hotlists.update'),
  remove('/v1/hotlists/{id}', 'hotlists.delete'),
  post('/v1/hotlists/{id}/revert', 'hotlists.revert'),
  read('/v1/hotlists/{id}/imports', 'hotlists.getImports'),
  read('/v1/hotlists/{id}/look-backs', 'hotlists.getLookBacks'),
  post('/v1/hotlists/{id}/look-backs', 'hotlists.lookBack'),
  read('/v1/hotlist-imports/{id}', 'hotlists.getImport'),
  post('/v1/hotlist-imports/{importId}/stage', 'hotlists.stage'),
  post('/v1/hotlist-imports/{id}/apply', 'hotlists.applyImport'),
  post('/v1/hotlist-imports/{id}/cancel', 'hotlists.cancelImport'),
  post('/v1/look-backs/{id}/cancel', 'hotlists.cancelLookBack'),
  read('/v1/hotlists/{hotlistId}/entries', 'hotlists.getEntries'),
  read('/v1/hotlist-entries', 'hotlists.findEntries'),
  create('/v1/hotlists/{hotlistId}/entries', 'hotlists.addEntry'),
  patch('/v1/hotlists/{hotlistId}/entries/{id}', 'hotlists.updateEntry'),
  remove('/v1/hotlists/{hotlistId}/entries/{id}', 'hotlists.endEntry'),
  read('/v1/hits', 'hits.getAll'),
  read('/v1/hits/stats', 'hits.getStats'),
  read('/v1/hits/{id}', 'hits.getById'),
  post('/v1/hits/{id}/confirm', 'hits.confirm'),
  post('/v1/hits/{id}/reject', 'hits.reject'),
  put('/v1/hits/{id}/outcome', 'hits.setOutcome'),

  read('/v1/connections', 'connections.getAll'),
  create('/v1/connections', 'connections.create'),
  read('/v1/connections/formats', 'connections.getFormats'),
  read('/v1/connections/{id}', 'connections.getById'),
  patch('/v1/connections/{id}', 'connections.update'),
  remove('/v1/connections/{id}', 'connections.delete'),
  post('/v1/connections/{id}/secrets', 'connections.rotate'),
  read('/v1/connections/{connectionId}/messages', 'connections.getMessages'),
  read('/v1/connection-messages/{id}', 'connections.getMessage'),
  post('/v1/connection-messages/replay', 'connections.replay'),
  read('/v1/discoveries', 'connections.getDiscoveries'),
  post('/v1/discoveries/{id}/register', 'connections.register'),

  read('/v1/traffic/flow', 'traffic.getFlow'),
  read('/v1/traffic/speeds', 'traffic.getSpeedDistribution'),
  read('/v1/traffic/hour-of-week', 'traffic.getHourOfWeek'),
  read('/v1/traffic/live', 'traffic.getLive'),
  read('/v1/traffic/top-locations', 'traffic.getTopLocations'),
  read('/v1/traffic/counts', 'traffic.getCounts'),
  read('/v1/traffic/peak-hours', 'traffic.getPeakHours'),
  read('/v1/traffic/turning-movements', 'traffic.getTurningMovements'),
  read('/v1/traffic/daily-volumes', 'traffic.getDailyVolumes'),
  read('/v1/traffic/aadt', 'traffic.getAadt'),
  read('/v1/traffic/aadt/network', 'traffic.getNetworkAadt'),
  read('/v1/traffic/factors', 'traffic.getFactors'),
  read('/v1/traffic/design-hours', 'traffic.getDesignHours'),
  read('/v1/traffic/speed-study', 'traffic.getSpeedStudy'),
  read('/v1/traffic/headways', 'traffic.getHeadways'),
  read('/v1/traffic/density', 'traffic.getDensity'),
  read('/v1/traffic/tmg', 'traffic.getTmgFile'),
  post('/v1/traffic/speed-study/comparison', 'traffic.compareStudies'),
  read('/v1/traffic/data-quality', 'traffic.getDataQuality'),
  read('/v1/traffic/outages', 'traffic.getOutages'),
  read('/v1/traffic/data-reviews', 'traffic.getDataReviews'),
  post('/v1/traffic/data-reviews', 'traffic.reviewData'),

  read('/v1/class-schemes', 'classSchemes.get'),

  read('/v1/calendar', 'calendars.list'),
  create('/v1/calendar', 'calendars.create'),
  post('/v1/calendar/days', 'calendars.createMany'),
  remove('/v1/calendar/{id}', 'calendars.delete'),
  post('/v1/calendar/deletions', 'calendars.deleteMany'),

  read('/v1/studies', 'studies.list'),
  create('/v1/studies', 'studies.create'),
  read('/v1/studies/{id}', 'studies.get'),
  remove('/v1/studies/{id}', 'studies.delete'),
  post('/v1/studies/{id}/freeze', 'studies.freeze'),
  post('/v1/studies/{id}/sign', 'studies.sign'),
  post('/v1/studies/{id}/reject', 'studies.reject'),
  post('/v1/studies/{id}/export', 'studies.export'),
  read('/v1/studies/{id}/verification', 'studies.verify'),

  read('/v1/analytics', 'reports.getAnalytics'),
  read('/v1/analytics/repeat-plates', 'reports.getRepeatPlates'),

  read('/v1/alarms', 'alarms.getAll'),
  read('/v1/alarms/stats', 'alarms.getStats'),
  read('/v1/alarms/{id}', 'alarms.getById'),
  post('/v1/alarms/{id}/acknowledge', 'alarms.acknowledge'),
  read('/v1/alarm-rules', 'alarmRules.getAll'),
  create('/v1/alarm-rules', 'alarmRules.create'),
  post('/v1/alarm-rules/trial', 'alarmRules.tryRule'),
  read('/v1/alarm-rules/{id}', 'alarmRules.getById'),
  patch('/v1/alarm-rules/{id}', 'alarmRules.update'),
  remove('/v1/alarm-rules/{id}', 'alarmRules.delete'),
  read('/v1/policies', 'policies.getAll'),
  create('/v1/policies', 'policies.create'),
  read('/v1/policies/{id}', 'policies.getById'),
  patch('/v1/policies/{id}', 'policies.update'),
  remove('/v1/policies/{id}', 'policies.delete'),
  read('/v1/log', 'log.getAll'),
  create('/v1/log', 'log.add'),
  read('/v1/log/{id}', 'log.getById'),
  post('/v1/log/{id}/correct', 'log.correct'),
  read('/v1/shifts', 'shifts.getAll'),
  create('/v1/shifts', 'shifts.start'),
  read('/v1/shifts/{id}', 'shifts.getById'),
  read('/v1/shifts/{id}/preparation', 'shifts.prepare'),
  post('/v1/shifts/{id}/hand-over', 'shifts.handOver'),
  post('/v1/shifts/{id}/accept', 'shifts.accept'),
  post('/v1/shifts/{id}/close', 'shifts.close'),
  read('/v1/silences', 'silences.getAll'),
  create('/v1/silences', 'silences.create'),
  read('/v1/silences/{id}', 'silences.getById'),
  remove('/v1/silences/{id}', 'silences.end'),
  read('/v1/webhooks', 'webhooks.getAll'),
  create('/v1/webhooks', 'webhooks.create'),
  read('/v1/webhooks/{id}', 'webhooks.getById'),
  patch('/v1/webhooks/{id}', 'webhooks.update'),
  remove('/v1/webhooks/{id}', 'webhooks.delete'),
  post('/v1/webhooks/{id}/test', 'webhooks.test'),
  read('/v1/channels', 'channels.getAll'),
  create('/v1/channels', 'channels.create'),
  read('/v1/channels/{id}', 'channels.getById'),
  patch('/v1/channels/{id}', 'channels.update'),
  remove('/v1/channels/{id}', 'channels.delete'),
  post('/v1/channels/{id}/test', 'channels.test'),
  read('/v1/notices', 'notices.getAll'),
  post('/v1/notices/redeliver', 'notices.redeliver'),
  read('/v1/notices/{id}', 'notices.getById'),
  read('/v1/rotas', 'rotas.getAll'),
  create('/v1/rotas', 'rotas.create'),
  post('/v1/rotas/preview', 'rotas.getPreview'),
  read('/v1/rotas/{id}', 'rotas.getById'),
  patch('/v1/rotas/{id}', 'rotas.update'),
  remove('/v1/rotas/{id}', 'rotas.delete'),
  read('/v1/rotas/{id}/duty', 'rotas.getOnDuty'),

  read('/v1/deliveries', 'webhooks.getDeliveries'),
  post('/v1/deliveries/redeliver', 'webhooks.redeliver'),
  read('/v1/deliveries/{id}', 'webhooks.getDelivery'),

  read('/v1/reports', 'reports.getReports'),
  post('/v1/reports', 'reports.generate'),
  read('/v1/reports/schedules', 'reports.getSchedules'),
  post('/v1/reports/schedules', 'reports.createSchedule', {
    status: 201,
    created: { field: 'id', under: 'schedules' },
  }),
  patch('/v1/reports/schedules/{id}', 'reports.updateSchedule'),
  remove('/v1/reports/schedules/{id}', 'reports.deleteSchedule'),
  read('/v1/reports/{id}', 'reports.getById'),
  remove('/v1/reports/{id}', 'reports.delete'),
  post('/v1/reports/{id}/cancel', 'reports.cancel'),

  read('/v1/users', 'users.getAll'),
  create('/v1/users', 'users.create'),
  read('/v1/users/{id}', 'users.getById'),
  patch('/v1/users/{id}', 'users.update'),
  remove('/v1/users/{id}', 'users.delete'),
  put('/v1/users/{id}/role', 'users.updateRole'),
  post('/v1/users/{userId}/password', 'users.resetPassword'),
  read('/v1/users/{id}/activity', 'users.getActivity'),
  read('/v1/activity', 'users.getActivityLog'),
  read('/v1/activity/{id}', 'users.getActivityEntry'),

  post('/v1/login', 'auth.login'),
  post('/v1/logout', 'auth.logout'),
  read('/v1/me', 'auth.me'),
  read('/v1/health', 'system.health'),
  read('/v1/settings', 'system.getSettings'),
  read('/v1/doctor', 'system.doctor'),
];

/** The routes of one path, and the fields of the input that the path contains. */
export interface FoundPath {
  readonly routes: readonly Route[];
  readonly fields: Readonly<Record<string, string>>;
}

const byPath = routerOf(routes);

/**
 * Finds the routes of a path.
 * @param path still encoded; a slash at its end is ignored
 * @returns null when there are none
 * @throws WireError BAD_REQUEST for a field that cannot be decoded
 */
export function findPath(path: string): FoundPath | null {
  // The router compares decoded paths, so that %65vents would be `events`. It sees the path as it was sent instead.
  const sent = (path.endsWith('/') ? path.slice(0, -1) : path).replaceAll('%', '%25');
  const found = byPath.find('GET', sent);
  const fields = Object.entries(found?.params ?? {});
  if (!found || fields.some(([, value]) => value === '')) return null;
  return {
    routes: found.store as readonly Route[],
    fields: Object.fromEntries(fields.map(([name, value]) => [name, decode(value ?? '')])),
  };
}

/** The value of the header Allow. */
export function allowedMethods(found: readonly Route[]): string {
  const methods = found.map(({ method }) => method);
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}

/** A router with the routes of each path, whatever their method, so that those of a wrong method are known too. */
function routerOf(all: readonly Route[]) {
  // A longer field is refused by the schema, which says why. Headers are limited, and so is the path.
  const router = createRouter({ maxParamLength: Number.MAX_SAFE_INTEGER });
  for (const path of new Set(all.map((route) => route.path))) {
    const found = all.filter((route) => route.path === path);
    router.on('GET', path.replaceAll(/\{(\w+)\}/g, ':$1'), () => undefined, found);
  }
  return router;
}

function decode(field: string): string {
  try {
    return decodeURIComponent(field);
  } catch {
    throw new WireError('BAD_REQUEST', 'Malformed URL');
  }
}
