import { sql } from 'drizzle-orm';
import type { Transaction } from '../platform/database/transaction.ts';

/** What a merge moves, by number. */
export interface Moved extends Record<string, unknown> {
  readonly events: number;
  readonly notes: number;
  readonly images: number;
  readonly agencies: number;
}

/**
 * Moves events, notes, images and agencies of an incident to another one; both are locked. Events and images that both
 * have are kept once. The entries of the timeline that attached events move with them; that of the creation stays.
 * Incidents that point to the one point to the other.
 */
export async function moveAll(tx: Transaction, from: string, to: string): Promise<Moved> {
  const { rows } = await tx.execute<Moved>(sql`
    WITH events AS (
      DELETE FROM incident_events WHERE incident_id = ${from}::uuid RETURNING event_id, attached_at
    ), attached AS (
      INSERT INTO incident_events (incident_id, event_id, attached_at)
      SELECT ${to}::uuid, event_id, attached_at FROM events ON CONFLICT DO NOTHING
    ), images AS (
      DELETE FROM incident_images WHERE incident_id = ${from}::uuid RETURNING sha256, at
    ), kept AS (
      INSERT INTO incident_images (incident_id, sha256, at)
      SELECT ${to}::uuid, sha256, at FROM images ON CONFLICT DO NOTHING
    ), agencies AS (
      UPDATE incident_agencies SET incident_id = ${to}::uuid WHERE incident_id = ${from}::uuid RETURNING id
    ), entries AS (
      UPDATE incident_timeline
      SET incident_id = ${to}::uuid, details = coalesce(details, '{}') || jsonb_build_object('mergedFrom', ${from}::text)
      WHERE incident_id = ${from}::uuid AND action IN ('addNote', 'attachEvent') RETURNING action
    )
    SELECT (SELECT count(*)::int FROM events) AS events, (SELECT count(*)::int FROM images) AS images,
      (SELECT count(*)::int FROM agencies) AS agencies,
      (SELECT count(*)::int FROM entries WHERE action = 'addNote') AS notes`);
  await tx.execute(sql`
    UPDATE incidents SET last_event_at = greatest(incidents.last_event_at, merged.last_event_at, merged.opened_at)
    FROM incidents AS merged WHERE incidents.id = ${to}::uuid AND merged.id = ${from}::uuid`);
  await tx.execute(sql`
    UPDATE incident_work SET
      merged_into = CASE merged_into WHEN ${from}::uuid THEN ${to}::uuid ELSE merged_into END,
      secondary_of = CASE secondary_of WHEN ${from}::uuid THEN ${to}::uuid ELSE secondary_of END
    WHERE (merged_into = ${from}::uuid OR secondary_of = ${from}::uuid) AND incident_id <> ${to}::uuid`);
  const [moved] = rows;
  if (!moved) throw new Error('PostgreSQL did not return what was moved');
  return moved;
}
