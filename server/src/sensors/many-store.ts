import { isUuid } from '@gantry/contract/id';
import type { Sensor } from '@gantry/contract/sensors';
import { asc, eq, inArray, sql } from 'drizzle-orm';
import { locations, sensors } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import type { StatusOutcome } from './status-store.ts';

/** What many sensors can be given at once. */
export interface SharedFields
  extends Pick<
    Sensor,
    'status' | 'locationId' | 'eventsPerMin' | 'direction' | 'make' | 'model' | 'warrantyUntil' | 'tags'
  > {
  readonly requiresHeartbeats: boolean;
}

/** One of many sensors that are changed. */
export interface OneOfMany extends SharedFields {
  readonly id: string;
  readonly name: string;
  readonly locationName: string | null;
  readonly updatedAt: Date;
}

const columns = {
  id: sensors.id,
  name: sensors.name,
  status: sensors.status,
  locationId: sensors.locationId,
  locationName: locations.name,
  eventsPerMin: sensors.eventsPerMin,
  requiresHeartbeats: sensors.requiresHeartbeats,
  direction: sensors.direction,
  make: sensors.make,
  model: sensors.model,
  warrantyUntil: sensors.warrantyUntil,
  tags: sensors.tags,
  updatedAt: sensors.updatedAt,
};

/** Those of the ids that exist, in the order of their ids. @param locks whether they are locked until the transaction ends */
export async function listMany(db: Executor, ids: readonly string[], locks: boolean): Promise<OneOfMany[]> {
  const wanted = ids.filter(isUuid);
  if (wanted.length === 0) return [];
  const found = db
    .select(columns)
    .from(sensors)
    .leftJoin(locations, eq(locations.id, sensors.locationId))
    .where(inArray(sensors.id, wanted))
    .orderBy(asc(sensors.id))
    .$dynamic();
  return locks ? found.for('no key update', { of: sensors }) : found;
}

/** A sensor after the change, with its status before. */
export interface ChangedSensor extends StatusOutcome {
  readonly updatedAt: Date;
}

/**
 * Gives sensors that the transaction has locked what they are to have, by one statement, and records changes of their status. PostgreSQL
 * refuses an unknown location (23503).
 * @param reason of the changes of status
 */
export async function changeMany(
  tx: Transaction,
  wanted: readonly OneOfMany[],
  { reason, userId }: { readonly reason: string; readonly userId: string },
): Promise<ChangedSensor[]> {
  const given = wanted.map((sensor) => ({
    id: sensor.id,
    status: sensor.status,
    location_id: sensor.locationId,
    events_per_min: sensor.eventsPerMin,
    requires_heartbeats: sensor.requiresHeartbeats,
    direction: sensor.direction,
    make: sensor.make,
    model: sensor.model,
    warranty_until: sensor.warrantyUntil,
    tags: sensor.tags,
  }));
  const { rows } = await tx.execute<{
    id: string;
    name: string;
    old_status: Sensor['status'];
    status: Sensor['status'];
    at: string;
    updated_at: string;
  }>(sql`
    WITH given AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb) AS given (id uuid, status text, location_id uuid,
        events_per_min integer, requires_heartbeats boolean, direction text, make text, model text, warranty_until date,
        tags text[])
    ), before AS MATERIALIZED (
      SELECT sensors.id, sensors.status FROM sensors JOIN given USING (id)
    ), changed AS (
      UPDATE sensors SET status = given.status,
        status_since = CASE WHEN sensors.status = given.status THEN sensors.status_since
          ELSE greatest(clock_timestamp()::timestamptz(3), sensors.status_since) END,
        location_id = given.location_id, events_per_min = given.events_per_min,
        requires_heartbeats = given.requires_heartbeats, direction = given.direction, make = given.make,
        model = given.model, warranty_until = given.warranty_until, tags = given.tags,
        updated_at = greatest(statement_timestamp(), sensors.updated_at + interval '1 millisecond')
      FROM given JOIN before USING (id) WHERE sensors.id = given.id
      RETURNING sensors.id, sensors.name, before.status AS old_status, sensors.status, sensors.status_since AS at,
        sensors.updated_at
    ), recorded AS (
      INSERT INTO sensor_status_history (sensor_id, from_status, to_status, at, reason, changed_by)
      SELECT id, old_status, status, at, ${reason}::text, ${userId}::uuid FROM changed WHERE old_status <> status
      ORDER BY id
    )
    SELECT * FROM changed ORDER BY id`);
  return rows.map((row) => ({
    sensorId: row.id,
    sensorName: row.name,
    from: row.old_status,
    to: row.status,
    at: new Date(row.at),
    updatedAt: new Date(row.updated_at),
  }));
}
