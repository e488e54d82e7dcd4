import type { Coordinates } from '@gantry/contract/coordinates';
import type { Event, EventDetail, EventType } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import { inArray, sql } from 'drizzle-orm';
import { users } from '../database/tables.ts';
import type { Executor } from '../database/transaction.ts';
import { notFound } from '../error.ts';
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

export const toEvent = (row: EventRecord): Event => ({
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
});

const findNames = async (
  db: Executor,
  userIds: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> => {
  const ids = userIds.filter((userId) => userId !== null);
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({ id: users.id, firstName: users.firstName, lastName: users.lastName })
    .from(users)
    .where(inArray(users.id, ids));
  return new Map(rows.map(({ id, firstName, lastName }) => [id, `${firstName} ${lastName}`]));
};

/**
 * An event in full.
 * @throws AppError `notFound`
 */
export const getEvent = async (db: Executor, id: string): Promise<EventDetail> => {
  if (!isUuid(id)) throw notFound('Event');
  // Plan: events_pkey of one partition. 1.6 ms over HTTP, whatever the length of the history.
  const { rows } = await db.execute<DetailRecord>(sql`
    SELECT ${listedColumns}, location, metadata, images, tags, processed_at, processed_by, archived_at, archived_by
    FROM events WHERE id = ${id}::uuid`);
  const row = rows[0];
  if (!row) throw notFound('Event');
  const names = await findNames(db, [row.processed_by, row.archived_by]);
  const actor = (userId: string | null) =>
    userId === null ? null : { id: userId, name: names.get(userId) ?? 'a former user' };
  return {
    ...toEvent(row),
    location: row.location,
    metadata: row.metadata,
    images: row.images ?? [],
    tags: row.tags ?? [],
    processedAt: row.processed_at === null ? null : new Date(row.processed_at),
    processedBy: actor(row.processed_by),
    archivedAt: row.archived_at === null ? null : new Date(row.archived_at),
    archivedBy: actor(row.archived_by),
  };
};
