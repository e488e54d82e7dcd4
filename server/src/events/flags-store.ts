import { isUuid } from '@gantry/contract/id';
import { sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';
import { KEYS_OF_EVENT, TOTALS_KEYS } from './counts/counting.ts';

/** Who marked an event, and when (ISO 8601). */
export interface Flag {
  readonly by: string | null;
  readonly at: string | null;
}

/** The flags of an event that people set; null: not set. */
export interface Flags {
  readonly processed: Flag | null;
  readonly archived: Flag | null;
}

/** The flags of an event before and after a change. */
export interface FlagsChange {
  readonly before: Flags;
  readonly after: Flags;
}

interface FlagsRow extends Record<string, unknown> {
  processed: boolean;
  processed_at: string | null;
  processed_by: string | null;
  archived: boolean;
  archived_at: string | null;
  archived_by: string | null;
}

/** Locks the flags of an event until the transaction ends; null when there is no such event. */
export async function lockFlags(db: Executor, id: string): Promise<Flags | null> {
  if (!isUuid(id)) return null;
  // Plan: events_pkey or events_unprocessed of one partition.
  const { rows } = await db.execute<FlagsRow>(sql`
    SELECT processed, processed_at, processed_by, archived, archived_at, archived_by
    FROM events WHERE id = ${id}::uuid FOR UPDATE`);
  const [row] = rows;
  if (!row) return null;
  return {
    processed: row.processed ? flagOf(row.processed_by, row.processed_at) : null,
    archived: row.archived ? flagOf(row.archived_by, row.archived_at) : null,
  };
}

/**
 * Sets or clears both flags of an event, and updates the totals once.
 * @param change `before` must be the present flags, which the caller has locked
 */
export async function setFlags(db: Executor, id: string, { before, after }: FlagsChange): Promise<void> {
  if (isSameFlag(before.processed, after.processed) && isSameFlag(before.archived, after.archived)) return;
  const [wasProcessed, wasArchived] = [before.processed !== null, before.archived !== null];
  const [processed, archived] = [after.processed !== null, after.archived !== null];
  const isCountedAnew = wasProcessed !== processed || wasArchived !== archived;
  await db.execute(sql`
    WITH changed AS (
      UPDATE events SET
        processed = ${processed}, processed_at = ${after.processed?.at ?? null}::timestamptz,
        processed_by = ${after.processed?.by ?? null}::uuid,
        archived = ${archived}, archived_at = ${after.archived?.at ?? null}::timestamptz,
        archived_by = ${after.archived?.by ?? null}::uuid
      WHERE id = ${id}::uuid
      RETURNING id, event_type, violation_type, vehicle_type, severity
    ), moves AS (
      SELECT id, event_type, violation_type, vehicle_type, severity, move.processed, move.archived, move.n
      FROM changed CROSS JOIN (VALUES
        (${wasProcessed}::boolean, ${wasArchived}::boolean, -1),
        (${processed}::boolean, ${archived}::boolean, 1)
      ) AS move (processed, archived, n) WHERE ${isCountedAnew}::boolean
    )
    INSERT INTO event_totals (hour, ${sql.raw(TOTALS_KEYS)}, n)
    SELECT event_hour(id), ${sql.raw(KEYS_OF_EVENT)}, n FROM moves`);
}

/** Whether two flags are equal, including who set them and when. */
export function isSameFlag(one: Flag | null, other: Flag | null): boolean {
  return one?.at === other?.at && one?.by === other?.by && (one === null) === (other === null);
}

function flagOf(by: string | null, at: string | null): Flag {
  return { by, at: at === null ? null : new Date(at).toISOString() };
}
