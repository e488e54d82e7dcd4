import { sql } from 'drizzle-orm';
import { VIOLATION_EVENT_TYPES } from '../violation.ts';

const types = VIOLATION_EVENT_TYPES.map((type) => `'${type}'`).join(', ');

/**
 * `isViolation` as a condition on rows of events, whose violation type may be null, and on their totals, where it is '' then.
 * It is null rather than false for some of them, so it must not be negated.
 */
export const violationCondition = sql.raw(`(event_type IN (${types}) OR violation_type <> '')`);
