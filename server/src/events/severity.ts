import { type EventType, type Severity, severity } from '@gantry/contract/events';

/** The rank by which severities are sorted, from 1 LOW to 4 CRITICAL. */
export function rankOf(value: Severity): number {
  return severity.options.indexOf(value) + 1;
}

/** The severity of a rank from 1 LOW to 4 CRITICAL; null for any other. */
export function severityOfRank(rank: number): Severity | null {
  return severity.options[rank - 1] ?? null;
}

/** The severity of an event by its violation type (upper case). */
export const byViolation: ReadonlyMap<string, Severity> = new Map(
  Object.entries({
    WRONG_WAY: 'CRITICAL',
    RED_LIGHT: 'HIGH',
    PHONE_USE: 'MEDIUM',
    NO_SEATBELT: 'MEDIUM',
    LANE_VIOLATION: 'LOW',
    ILLEGAL_PARKING: 'LOW',
  } as const),
);

/** The severity of an event whose violation type is not in that table. */
export const byEventType: Readonly<Record<EventType, Severity | null>> = {
  INCIDENT: 'HIGH',
  TRAFFIC_VIOLATION: 'MEDIUM',
  SEATBELT_VIOLATION: 'MEDIUM',
  VEHICLE_DETECTION: null,
  SPEED_DETECTION: null,
  PLATE_RECOGNITION: null,
};

/** The severity of SPEEDING if the speed or the limit is unknown. */
export const SPEEDING_WITHOUT_EXCESS: Severity = 'MEDIUM';

/** The excess over the speed limit, in km/h, up to which each severity applies. */
export const byExcess: readonly { upTo: number; severity: Severity }[] = [
  { upTo: 10, severity: 'LOW' },
  { upTo: 20, severity: 'MEDIUM' },
  { upTo: 40, severity: 'HIGH' },
  { upTo: Number.POSITIVE_INFINITY, severity: 'CRITICAL' },
];

/**
 * The severity of an event whose device reported none: by violation type, otherwise by event type, and at least the
 * severity for the excess over the location's limit (both in km/h). Null for ordinary events.
 */
export function severityOf(event: {
  eventType: EventType;
  violationType: string | null;
  vehicleSpeed: number | null;
  speedLimit: number | null;
}): Severity | null {
  const excess = ofExcess(event.vehicleSpeed, event.speedLimit);
  const violation = event.violationType?.toUpperCase() ?? '';
  if (violation === 'SPEEDING') return excess ?? SPEEDING_WITHOUT_EXCESS;
  return worse(byViolation.get(violation) ?? byEventType[event.eventType], excess);
}

function ofExcess(speed: number | null, limit: number | null): Severity | null {
  if (speed === null || limit === null || speed <= limit) return null;
  return byExcess.find(({ upTo }) => speed - limit <= upTo)?.severity ?? null;
}

function worse(a: Severity | null, b: Severity | null): Severity | null {
  if (a === null || b === null) return a ?? b;
  return rankOf(a) >= rankOf(b) ? a : b;
}

/** The types of events that always are violations. */
export const VIOLATION_EVENT_TYPES: readonly EventType[] = ['TRAFFIC_VIOLATION', 'SEATBELT_VIOLATION'];
const types: ReadonlySet<string> = new Set(VIOLATION_EVENT_TYPES);

/**
 * Whether an event is a violation: by its type, or because its device reported a violation type.
 * @param violationType null or '' for none
 */
export function isViolation(eventType: string, violationType: string | null): boolean {
  return types.has(eventType) || (violationType !== null && violationType !== '');
}
