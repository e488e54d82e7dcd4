import { sql } from 'drizzle-orm';
import { VIOLATION_EVENT_TYPES } from '../violation.ts';

const types = VIOLATION_EVENT_TYPES.map((type) => `'${type}'`).join(', ');

/**
 * `isViolation` as a condition on rows of events, where a missing violation type is null, and on totals, where it is
 * ''. It may be null instead of false, so it must not be negated.
 */
export const violationCondition = sql.raw(`(event_type IN (${types}) OR violation_type <> '')`);
