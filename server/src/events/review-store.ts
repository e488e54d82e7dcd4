import { isUuid } from '@gantry/contract/id';
import { sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';
import { KEYS_OF_EVENT, TOTALS_KEYS } from './counts/keys.ts';

// Each statement changes one event and adds to the totals what that changes of them. Two who act at once are settled
// by the WHERE clause: the row is changed once, so it is counted once.

const MOVE_TOTALS = sql.raw(`
  INSERT INTO event_totals (hour, ${TOTALS_KEYS}, n) SELECT event_hour(id), ${KEYS_OF_EVENT}, n FROM moves`);

/** What became of a change: it was made, it had been made before, or there is no such event. */
export type ReviewOutcome = 'changed' | 'unchanged' | 'absent';

const outcomeOf = async (db: Executor, id: string, changed: number): Promise<ReviewOutcome> => {
  if (changed > 0) return 'changed';
  const { rows } = await db.execute(sql`SELECT 1 FROM events WHERE id = ${id}::uuid`);
  return rows.length > 0 ? 'unchanged' : 'absent';
};

/** Marks an event as processed by a user. */
export const setProcessed = async (db: Executor, id: string, userId: string): Promise<ReviewOutcome> => {
  if (!isUuid(id)) return 'absent';
  // Plan: events_pkey or events_unprocessed of one partition. 4 ms over HTTP with its commit, 30 ms for each of 16 at once.
  const { rowCount } = await db.execute(sql`
    WITH changed AS (
      UPDATE events SET processed = true, processed_at = now(), processed_by = ${userId}::uuid
      WHERE id = ${id}::uuid AND NOT processed
      RETURNING id, event_type, violation_type, vehicle_type, severity, archived
    ), moves AS (
      SELECT id, event_type, violation_type, vehicle_type, severity, move.processed, archived, move.n
      FROM changed CROSS JOIN (VALUES (false, -1), (true, 1)) AS move (processed, n)
    ) ${MOVE_TOTALS}`);
  return outcomeOf(db, id, rowCount ?? 0);
};

/** Archives an event for a user, whether it was processed or not. */
export const setArchived = async (db: Executor, id: string, userId: string): Promise<ReviewOutcome> => {
  if (!isUuid(id)) return 'absent';
  const { rowCount } = await db.execute(sql`
    WITH changed AS (
      UPDATE events SET archived = true, archived_at = now(), archived_by = ${userId}::uuid
      WHERE id = ${id}::uuid AND NOT archived
      RETURNING id, event_type, violation_type, vehicle_type, severity, processed
    ), moves AS (
      SELECT id, event_type, violation_type, vehicle_type, severity, processed, move.archived, move.n
      FROM changed CROSS JOIN (VALUES (false, -1), (true, 1)) AS move (archived, n)
    ) ${MOVE_TOTALS}`);
  return outcomeOf(db, id, rowCount ?? 0);
};
