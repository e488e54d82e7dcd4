import { isUuid } from '@gantry/contract/id';
import { sql } from 'drizzle-orm';
import type { Executor } from '../database/transaction.ts';

// Each statement changes one event and, with it, the totals that count it. Two who act at once are settled by
// the WHERE clause: the row is changed once, so it is counted once.

const MOVE_TOTALS = sql.raw(`
  INSERT INTO event_totals (day, event_type, violation_type, vehicle_type, processed, archived, n)
  SELECT event_day(id), event_type, coalesce(violation_type, ''), coalesce(vehicle_type, ''), processed, archived, n
  FROM moves ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT (day, event_type, violation_type, vehicle_type, processed, archived)
  DO UPDATE SET n = event_totals.n + excluded.n`);

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
  const { rowCount } = await db.execute(sql`
    WITH changed AS (
      UPDATE events SET processed = true, processed_at = now(), processed_by = ${userId}::uuid
      WHERE id = ${id}::uuid AND NOT processed
      RETURNING id, event_type, violation_type, vehicle_type, archived
    ), moves AS (
      SELECT id, event_type, violation_type, vehicle_type, move.processed, archived, move.n
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
      RETURNING id, event_type, violation_type, vehicle_type, processed
    ), moves AS (
      SELECT id, event_type, violation_type, vehicle_type, processed, move.archived, move.n
      FROM changed CROSS JOIN (VALUES (false, -1), (true, 1)) AS move (archived, n)
    ) ${MOVE_TOTALS}`);
  return outcomeOf(db, id, rowCount ?? 0);
};

/** Removes an event; false when there was none. */
export const removeEvent = async (db: Executor, id: string): Promise<boolean> => {
  if (!isUuid(id)) return false;
  const { rowCount } = await db.execute(sql`
    WITH moves AS (
      DELETE FROM events WHERE id = ${id}::uuid
      RETURNING id, event_type, violation_type, vehicle_type, processed, archived, -1 AS n
    ) ${MOVE_TOTALS}`);
  return (rowCount ?? 0) > 0;
};
