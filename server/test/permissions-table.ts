import type { Role } from '@gantry/contract/permissions';
import type { AnyTRPCProcedure } from '@trpc/server';
import type { AppRouter } from '../src/api/router.ts';

/** Who may call a procedure: anybody, a device with its API key, or users of these roles. */
export type Who = 'anybody' | 'devices' | readonly Role[];

type PathsOf<Tree> = {
  [Name in keyof Tree & string]: Tree[Name] extends AnyTRPCProcedure
    ? Name
    : `${Name}.${PathsOf<Tree[Name]>}`;
}[keyof Tree & string];

/** The name of every procedure of the API. */
export type ProcedurePath = PathsOf<AppRouter['_def']['record']>;

// Written out here, so that an error in the service's own table is detected.
const everybody = ['ADMIN', 'OPERATOR', 'ANALYST', 'FIELD', 'VIEWER'] as const;
const sensors = ['ADMIN', 'OPERATOR'] as const;
const incidents = ['ADMIN', 'OPERATOR', 'FIELD'] as const;
const readReports = ['ADMIN', 'OPERATOR', 'ANALYST', 'VIEWER'] as const;
const makeReports = ['ADMIN', 'OPERATOR', 'ANALYST'] as const;
const administrators = ['ADMIN'] as const;

/** Who may call what. A missing procedure does not compile. */
export const mayCall = {
  'auth.login': 'anybody',
  'auth.logout': 'anybody',
  'auth.me': everybody,
  'auth.refreshToken': everybody,
  'auth.getSessions': everybody,
  'auth.revokeSession': everybody,
  'auth.changePassword': everybody,
  'sensors.getAll': 'anybody',
  'sensors.getAllSensors': 'anybody',
  'sensors.getById': 'anybody',
  'sensors.create': sensors,
  'sensors.update': sensors,
  'sensors.delete': sensors,
  'sensors.rotateKey': sensors,
  'sensors.heartbeat': 'devices',
  'sensors.getStatusHistory': everybody,
  'sensors.onStatusChanged': everybody,
  'sensors.ping': sensors,
  'events.ingest': 'devices',
  'events.ingestBatch': 'devices',
  'events.getAll': everybody,
  'events.getById': everybody,
  'events.getRecent': everybody,
  'events.markAsProcessed': incidents,
  'events.markAsArchived': incidents,
  'events.delete': sensors,
  'events.getStats': everybody,
  'events.onIngested': everybody,
  'events.getEventTypes': 'anybody',
  'locations.getAll': everybody,
  'locations.getById': everybody,
  'locations.create': sensors,
  'locations.update': sensors,
  'locations.delete': sensors,
  'traffic.getFlow': everybody,
  'traffic.getSpeedDistribution': everybody,
  'traffic.getHourOfWeek': everybody,
  'traffic.getLive': everybody,
  'traffic.getTopLocations': everybody,
  'webhooks.getAll': administrators,
  'webhooks.getById': administrators,
  'webhooks.create': administrators,
  'webhooks.update': administrators,
  'webhooks.delete': administrators,
  'webhooks.test': administrators,
  'webhooks.getDeliveries': administrators,
  'webhooks.redeliver': administrators,
  'incidents.getAll': incidents,
  'incidents.getById': incidents,
  'incidents.getStats': incidents,
  'incidents.onChanged': incidents,
  'incidents.create': incidents,
  'incidents.update': incidents,
  'incidents.acknowledge': incidents,
  'incidents.assign': incidents,
  'incidents.start': incidents,
  'incidents.resolve': incidents,
  'incidents.close': incidents,
  'incidents.reopen': incidents,
  'incidents.addNote': incidents,
  'incidents.attachEvent': incidents,
  'watchlist.getAll': incidents,
  'watchlist.create': sensors,
  'watchlist.update': sensors,
  'watchlist.delete': sensors,
  'watchlist.getAlerts': incidents,
  'watchlist.onAlert': incidents,
  'watchlist.acknowledgeAlert': incidents,
  'users.getAll': administrators,
  'users.getById': administrators,
  'users.create': administrators,
  'users.update': administrators,
  'users.delete': administrators,
  'users.updateRole': administrators,
  'users.resetPassword': administrators,
  'users.getActivity': administrators,
  'reports.getAnalytics': readReports,
  'reports.getReports': readReports,
  'reports.getById': readReports,
  'reports.generate': makeReports,
  'reports.cancel': makeReports,
  'reports.delete': makeReports,
  'reports.getSchedules': readReports,
  'reports.createSchedule': makeReports,
  'reports.updateSchedule': makeReports,
  'reports.deleteSchedule': makeReports,
  'storage.getStats': everybody,
  'storage.getRetention': administrators,
  'storage.setRetention': administrators,
  'storage.previewRetention': administrators,
  'storage.runRetention': administrators,
  'storage.getRetentionRuns': administrators,
  'storage.setHold': administrators,
  'storage.releaseHold': administrators,
  'storage.getHolds': administrators,
  'storage.getHold': administrators,
  'system.getLicense': 'anybody',
  'system.health': 'anybody',
  'system.getSettings': 'anybody',
  'system.timezone.getTimezoneSettings': 'anybody',
  'system.timezone.updateTimezoneSettings': administrators,
} as const satisfies Record<ProcedurePath, Who>;
