import type { Coordinates } from '@gantry/contract/coordinates';
import type { Event, EventDetail, EventType } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import { plateKey } from '@gantry/contract/plate';
import { type SQL, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import type { StoredRow } from './event-row.ts';
import { timeOfId } from './id.ts';
import { PASSAGE_COLUMNS, type PassageRecord, passageOf } from './passage-columns.ts';
import { severityOfRank } from './severity.ts';

/** The columns of an event that lists show. */
export interface EventRecord extends PassageRecord {
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
  location_id: string | null;
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
   vehicle_speed, location_id, location_name, severity, created_at, ${PASSAGE_COLUMNS}`,
);

const locationIds = new WeakMap<Event, string>();

/** The location of an event as `toEvent` returned it, which lists do not show; null for none. */
export function locationIdOf(event: Event): string | null {
  return locationIds.get(event) ?? null;
}

export function toEvent(row: EventRecord): Event {
  const event: Event = {
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
    ...passageOf(row),
  };
  if (row.location_id !== null) locationIds.set(event, row.location_id);
  return event;
}

/** The events with these ids as lists show them; ids that do not exist are left out. */
export async function findEvents(db: Executor, ids: readonly string[]): Promise<ReadonlyMap<string, Event>> {
  // Plan: events_pkey of the partitions that contain the ids.
  const { rows } = await db.execute<EventRecord>(
    sql`SELECT ${listedColumns} FROM events WHERE id = ANY(${sql.param(ids)}::uuid[])`,
  );
  return new Map(rows.map((row) => [row.id, toEvent(row)]));
}

/**
 * An event with all its fields.
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

interface StoredEvent extends PassageRecord {
  id: string;
  event_type: EventType;
  violation_type: string | null;
  vehicle_type: string | null;
  severity: number | null;
  sensor_id: string;
  sensor_name: string;
  location_id: string | null;
  location_name: string | null;
  plate: string | null;
  vehicle_speed: number | null;
  description: string | null;
  location: string | null;
  incident_type: string | null;
  incident_key: string | null;
  incident_end: string | null;
  record: string | null;
  created_at: string;
  processed: boolean;
  archived: boolean;
}

/**
 * The longest text of the metadata that is read, in characters. No type of incident has a longer name, and a key of a
 * source has 200 at most, so that a longer name of a record still differs from it (`incidents/from-event`).
 */
const METADATA_TEXT_MAX = 201;

/** The beginning of a text in the metadata; null if there is none. */
function textOf(field: string): SQL {
  return sql.raw(
    `CASE WHEN jsonb_typeof(metadata -> '${field}') = 'string' THEN left(metadata ->> '${field}', ${METADATA_TEXT_MAX}) END`,
  );
}

/**
 * Stored events as their effects need them: without images, tags and content hash, and of the metadata, which may have
 * megabytes, with only what determines their incidents. Ids that do not exist are left out.
 */
export async function findStoredRows(db: Executor, ids: readonly string[]): Promise<StoredRow[]> {
  const { rows } = await db.execute<StoredEvent>(sql`
    SELECT id, event_type, violation_type, vehicle_type, severity, sensor_id, sensor_name, location_id, location_name,
      plate, vehicle_speed, description, location::text, created_at, processed, archived, ${sql.raw(PASSAGE_COLUMNS)},
      ${textOf('incidentType')} AS incident_type, ${textOf('incidentKey')} AS incident_key,
      ${textOf('incidentEnd')} AS incident_end, ${textOf('record')} AS record
    FROM events WHERE id = ANY (${sql.param(ids)}::uuid[])`);
  return rows.map((row) => ({
    id: row.id,
    time: timeOfId(row.id),
    eventType: row.event_type,
    violationType: row.violation_type,
    vehicleType: row.vehicle_type,
    severity: row.severity,
    sensorId: row.sensor_id,
    sensorName: row.sensor_name,
    locationId: row.location_id,
    locationName: row.location_name,
    plate: row.plate,
    plateKey: row.plate === null ? null : plateKey(row.plate),
    vehicleSpeed: row.vehicle_speed,
    description: row.description,
    locationJson: row.location,
    metadataJson: JSON.stringify({
      incidentType: row.incident_type,
      incidentKey: row.incident_key,
      incidentEnd: row.incident_end,
      record: row.record,
    }),
    imagesJson: null,
    tagsJson: null,
    passage: passageOf(row),
    contentHash: null,
    createdAt: new Date(row.created_at),
    processed: row.processed,
    archived: row.archived,
  }));
}
