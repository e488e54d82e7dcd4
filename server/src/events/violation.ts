import type { EventType } from '@gantry/contract/events';

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
