// The values of enumerations, without the library that checks them, for pages that must be small.

/** Roles, from the most to the least that they may do. */
export const roles = ['ADMIN', 'OPERATOR', 'ANALYST', 'FIELD', 'VIEWER'] as const;

export const eventTypes = [
  'TRAFFIC_VIOLATION',
  'SEATBELT_VIOLATION',
  'VEHICLE_DETECTION',
  'SPEED_DETECTION',
  'PLATE_RECOGNITION',
  'INCIDENT',
] as const;

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

/** In the order in which an incident goes through them. */
export const incidentStatuses = ['OPEN', 'ACKNOWLEDGED', 'IN_PROGRESS', 'RESOLVED', 'CLOSED'] as const;

export const sortOrders = ['asc', 'desc'] as const;

export const reportKinds = [
  'VIOLATIONS',
  'EVENTS',
  'TRAFFIC',
  'INCIDENTS',
  'SENSOR_HEALTH',
  'DAILY_SUMMARY',
] as const;

export const reportFormats = ['CSV', 'XLSX', 'PDF'] as const;

export const reportStatuses = ['QUEUED', 'RUNNING', 'DONE', 'FAILED', 'CANCELLED'] as const;

export const sensorTypes = ['CAMERA', 'RADAR', 'ANPR', 'SPEED_DETECTOR', 'EDGE_CONTROLLER'] as const;

export const sensorStatuses = ['ONLINE', 'OFFLINE', 'MAINTENANCE', 'ERROR'] as const;

export const trafficIntervals = ['5min', '15min', '60min', 'day'] as const;

export const topics = ['events', 'sensors', 'incidents', 'watchlist'] as const;
