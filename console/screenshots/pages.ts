/** One image: a page, and the keys that are pressed on it before the image is taken. */
export interface Image {
  readonly name: string;
  readonly theme: 'dark' | 'light';
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
  readonly connectionId: string;
  /** The range of days of the pages with figures, as their address has it. */
  readonly days: string;
}

/** The images that documents show, in both themes by turns. */
export function imagesIn({
  sensorId,
  locationId,
  incidentId,
  connectionId,
  days,
}: Subjects): readonly Image[] {
  return [
    { name: 'overview', theme: 'dark', path: '/' },
    { name: 'wall', theme: 'dark', path: '/?kiosk=1' },
    { name: 'events', theme: 'light', path: '/events?eventType=TRAFFIC_VIOLATION', keys: ['j', 'j'] },
    { name: 'incidents', theme: 'dark', path: '/incidents' },
    { name: 'incident', theme: 'light', path: `/incidents/${incidentId}` },
    { name: 'watchlist', theme: 'light', path: '/watchlist', keys: ['j'] },
    { name: 'sensor', theme: 'dark', path: `/sensors/${sensorId}` },
    {
      name: 'connection',
      theme: 'light',
      path: `/sensors/${sensorId}/connections/${connectionId}`,
      keys: ['j'],
    },
    { name: 'locations-map', theme: 'dark', path: '/locations?view=map' },
    { name: 'traffic-place', theme: 'light', path: `/traffic?locationId=${locationId}&${days}` },
    { name: 'reports', theme: 'light', path: `/reports?${days}` },
    { name: 'phone-events', theme: 'dark', path: '/events', width: 390 },
  ];
}
