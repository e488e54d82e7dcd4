/** One picture: a page, and the keys that are pressed on it before the picture is taken. */
export interface Picture {
  readonly name: string;
  readonly path: string;
  readonly keys?: readonly string[];
  /** In pixels; absent: a wide screen. */
  readonly width?: number;
}

/** The things that pages are about. */
export interface Subjects {
  readonly sensorId: string;
  readonly locationId: string;
  readonly incidentId: string;
  readonly webhookId: string;
  readonly connectionId: string;
  /** The range of days of the pages with figures, as their address has it. */
  readonly days: string;
}

/** Every page of the console. */
export function picturesOf({
  sensorId,
  locationId,
  incidentId,
  webhookId,
  connectionId,
  days,
}: Subjects): readonly Picture[] {
  return [
    { name: 'sign-in', path: '/sign-in' },
    { name: 'overview', path: '/' },
    { name: 'wall', path: '/?kiosk=1' },
    { name: 'events', path: '/events?eventType=TRAFFIC_VIOLATION', keys: ['j', 'j'] },
    { name: 'incidents', path: '/incidents' },
    { name: 'incidents-list', path: '/incidents?view=list' },
    { name: 'incident', path: `/incidents/${incidentId}` },
    { name: 'watchlist', path: '/watchlist', keys: ['j'] },
    { name: 'watchlist-plates', path: '/watchlist?part=plates' },
    { name: 'sensors', path: '/sensors' },
    { name: 'sensor', path: `/sensors/${sensorId}` },
    { name: 'connection', path: `/sensors/${sensorId}/connections/${connectionId}`, keys: ['j'] },
    { name: 'locations', path: '/locations' },
    { name: 'locations-map', path: '/locations?view=map' },
    { name: 'location', path: `/locations/${locationId}` },
    { name: 'traffic', path: '/traffic' },
    { name: 'traffic-place', path: `/traffic?locationId=${locationId}&${days}` },
    { name: 'reports', path: `/reports?${days}` },
    { name: 'reports-files', path: '/reports/files' },
    { name: 'reports-schedules', path: '/reports/schedules' },
    { name: 'users', path: '/administration/users', keys: ['j'] },
    { name: 'roles', path: '/administration/roles' },
    { name: 'activity', path: '/administration/activity', keys: ['j'] },
    { name: 'webhooks', path: '/administration/webhooks' },
    { name: 'webhook', path: `/administration/webhooks/${webhookId}` },
    { name: 'storage', path: '/administration/storage' },
    { name: 'holds', path: '/administration/holds', keys: ['j'] },
    { name: 'time-settings', path: '/administration/settings' },
    { name: 'system', path: '/administration/system' },
    { name: 'backups', path: '/administration/backups' },
    { name: 'examination', path: '/administration/doctor' },
    { name: 'account', path: '/account' },
    { name: 'sessions', path: '/account/sessions' },
    { name: 'shortcuts', path: '/events', keys: ['?'] },
    { name: 'phone-incident', path: `/incidents/${incidentId}`, width: 390 },
    { name: 'phone-events', path: '/events', width: 390 },
  ];
}
