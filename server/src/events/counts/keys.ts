import { sql } from 'drizzle-orm';

/** The columns by which the totals count events, after the hour or period, in the order of the primary keys. */
export const TOTALS_KEYS = 'event_type, violation_type, vehicle_type, severity, processed, archived';

/** The values of an event in these columns: '' and 0 stand for none. */
export const KEYS_OF_EVENT = `event_type, coalesce(violation_type, ''), coalesce(vehicle_type, ''), coalesce(severity, 0),
    processed, archived`;

export const totalsKeys = sql.raw(TOTALS_KEYS);
export const keysOfEvent = sql.raw(KEYS_OF_EVENT);
