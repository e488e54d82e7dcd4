import type { Coordinates } from '@gantry/contract/coordinates';
import type { Event, EventDetail, EventType } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import { sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import { findNames } from '../users/names-store.ts';
import { KEYS_OF_EVENT, TOTALS_KEYS } from './counts/keys.ts';
import { timeOfId } from './id.ts';
import { severityOfRank } from './severity.ts';

/** An event as its row is read for lists. */
export interface EventRecord extends Record<string, unknown> {
  id: string;
  event_type: EventType;
  description: string | null;
  sensor_id: string | null;
  sensor_name: string | null;
  processed: boolean;
  archived: boolean;
  violation_type: string | null;
  plate: string | null;
  vehicle_type: string | null;
  vehicle_speed: number | null;
  location_name: string | null;
  severity: number | null;
  created_at: string;
}

interface DetailRecord extends EventRecord {
  location: Coordinates | null;
  metadata: Record<string, unknown> | null;
  images: string[] | null;
  tags: string[] | null;
  processed_at: string | null;
  processed_by: string | null;
  archived_at: string | null;
  archived_by: string | null;
}

export const listedColumns = sql.raw(
  `id, event_type, description, sensor_id, sensor_name, processed, archived, violation_type, plate, vehicle_type,
   vehicle_speed, location_name, severity, created_at`,
);

export function toEvent(row: EventRecord): Event {
  return {
    id: row.id,
    eventType: row.event_type,
    description: row.description,
    timestamp: new Date(timeOfId(row.id)),
    sensorId: row.sensor_id,
    sensorName: row.sensor_name,
    processed: row.processed,
    archived: row.archived,
    violationType: row.violation_type,
    licensePlateNumber: row.plate,
    vehicleType: row.vehicle_type,
    vehicleSpeed: row.vehicle_speed,
    locationName: row.location_name,
    severity: row.severity === null ? null : severityOfRank(row.severity),
    createdAt: new Date(row.created_at),
  };
}

/** The events with these ids, as lists show them; those that are gone are not among them. */
export async function findEvents(db: Executor, ids: readonly string[]): Promise<ReadonlyMap<string, Event>> {
  // Plan: events_pkey of the partitions that the ids fall into.
  const { rows } = await db.execute<EventRecord>(
    sql`SELECT ${listedColumns} FROM events WHERE id = ANY(${sql.param(ids)}::uuid[])`,
  );
  return new Map(rows.map((row) => [row.id, toEvent(row)]));
}

/**
 * An event in full.
 * @throws AppError `notFound`
 */
export async function getEvent(db: Executor, id: string): Promise<EventDetail> {
  if (!isUuid(id)) throw notFound('Event');
  // Plan: events_pkey of one partition. 1.6 ms over HTTP, whatever the length of the history.
  const { rows } = await db.execute<DetailRecord>(sql`
    SELECT ${listedColumns}, location, metadata, images, tags, processed_at, processed_by, archived_at, archived_by
    FROM events WHERE id = ${id}::uuid`);
  const row = rows[0];
  if (!row) throw notFound('Event');
  const nameOf = await findNames(db, [row.processed_by, row.archived_by]);
  return {
    ...toEvent(row),
    location: row.location,
    metadata: row.metadata,
    images: row.images ?? [],
    tags: row.tags ?? [],
    processedAt: row.processed_at === null ? null : new Date(row.processed_at),
    processedBy: nameOf(row.processed_by),
    archivedAt: row.archived_at === null ? null : new Date(row.archived_at),
    archivedBy: nameOf(row.archived_by),
  };
}

// Each statement changes one event and adds to the totals what that changes of them. Two who act at once are settled
// by the WHERE clause: the row is changed once, so it is counted once.

const MOVE_TOTALS = sql.raw(`
  INSERT INTO event_totals (hour, ${TOTALS_KEYS}, n) SELECT event_hour(id), ${KEYS_OF_EVENT}, n FROM moves`);

/** What became of a change: it was made, it had been made before, or there is no such event. */
export type ReviewOutcome = 'changed' | 'unchanged' | 'absent';

/** Marks an event as processed by a user. */
export async function setProcessed(db: Executor, id: string, userId: string): Promise<ReviewOutcome> {
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
}

/** Archives an event for a user, whether it was processed or not. */
export async function setArchived(db: Executor, id: string, userId: string): Promise<ReviewOutcome> {
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
}

async function outcomeOf(db: Executor, id: string, changed: number): Promise<ReviewOutcome> {
  if (changed > 0) return 'changed';
  const { rows } = await db.execute(sql`SELECT 1 FROM events WHERE id = ${id}::uuid`);
  return rows.length > 0 ? 'unchanged' : 'absent';
}
