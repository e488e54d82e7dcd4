import { sql } from 'drizzle-orm';
import { VIOLATION_EVENT_TYPES } from '../violation.ts';

const types = VIOLATION_EVENT_TYPES.map((type) => `'${type}'`).join(', ');

/** `isViolation` as a condition: on rows of events, whose violation type may be null, and on their totals, where it is ''. */
export const violationCondition = sql.raw(`(event_type IN (${types}) OR coalesce(violation_type, '') <> '')`);
