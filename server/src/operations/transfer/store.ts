import type { EventType } from '@gantry/contract/events';
import { type SQL, sql } from 'drizzle-orm';
import { firstIdAt, timeOfId } from '../../events/id.ts';
import { severityOfRank } from '../../events/severity.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { inPortions } from '../../platform/portions.ts';
import type { ExportedEvent } from './fields.ts';

/** Which events are exported. */
export interface ExportFilters {
  /** Unix milliseconds. */
  readonly from: number | null;
  /** Unix milliseconds, not included. */
  readonly until: number | null;
  readonly eventTypes: readonly EventType[];
  readonly deviceIds: readonly string[];
}

/** Events that are looked up together. */
const PAGE = 1_000;

/**
 * Maximum size of the metadata and images that are read together, in bytes as stored. PostgreSQL compresses them, usually
 * to a third and never to less than a hundredth.
 */
const MOST_STORED = 1_000_000;

interface Found extends Record<string, unknown> {
  readonly id: string;
  readonly stored: number;
}

interface Row extends Record<string, unknown> {
  readonly id: string;
  readonly severity: number | null;
  readonly created_at: string;
}

/** The events in the order of their times, in portions, so that memory does not grow with their number and size. */
export async function* exportedPages(db: Executor, filters: ExportFilters): AsyncGenerator<ExportedEvent[]> {
  let after: string | null = null;
  for (;;) {
    const found = await findPage(db, filters, after);
    for (const portion of inPortions(found, MOST_STORED, ({ stored }) => stored))
      yield await readEvents(
        db,
        portion.map(({ id }) => id),
      );
    if (found.length < PAGE) return;
    after = found.at(-1)?.id ?? null;
  }
}

/** The ids and sizes of the events that follow an id, in the order of their times. */
async function findPage(
  db: Executor,
  { from, until, eventTypes, deviceIds }: ExportFilters,
  after: string | null,
): Promise<readonly Found[]> {
  const start: SQL =
    after !== null
      ? sql`events.id > ${after}`
      : from !== null
        ? sql`events.id >= ${firstIdAt(from)}`
        : sql`true`;
  // Plan: a merge of events_pkey of the partitions, from the place where the last page ended.
  const { rows } = await db.execute<Found>(sql`
    SELECT events.id,
      coalesce(pg_column_size(metadata), 0) + coalesce(pg_column_size(images), 0) AS stored
    FROM events LEFT JOIN sensors ON sensors.id = events.sensor_id
    WHERE ${start}
      AND ${until === null ? sql`true` : sql`events.id < ${firstIdAt(until)}`}
      AND ${eventTypes.length === 0 ? sql`true` : sql`event_type = ANY(${sql.param(eventTypes)}::text[])`}
      AND ${deviceIds.length === 0 ? sql`true` : sql`device_id = ANY(${sql.param(deviceIds)}::text[])`}
    ORDER BY events.id LIMIT ${PAGE}`);
  return rows;
}

async function readEvents(db: Executor, ids: readonly string[]): Promise<ExportedEvent[]> {
  // Plan: events_pkey of the partitions that contain the ids.
  const { rows } = await db.execute<Row>(sql`
    SELECT events.id, device_id AS "deviceId", event_type AS "eventType", severity,
      plate AS "licensePlateNumber", vehicle_type AS "vehicleType", vehicle_speed AS "vehicleSpeed",
      violation_type AS "violationType", events.description, events.location, metadata,
      coalesce(images, '[]') AS images, coalesce(tags, '[]') AS tags, sensor_name AS "sensorName",
      sensors.type AS "sensorType", location_name AS "locationName", processed, archived, events.created_at
    FROM events LEFT JOIN sensors ON sensors.id = events.sensor_id
    WHERE events.id = ANY(${sql.param(ids)}::uuid[])
    ORDER BY events.id`);
  return rows.map(exported);
}

function exported({ severity, created_at, ...row }: Row): ExportedEvent {
  return {
    ...row,
    timestamp: new Date(timeOfId(row.id)).toISOString(),
    severity: severity === null ? null : severityOfRank(severity),
    createdAt: new Date(created_at).toISOString(),
  } as unknown as ExportedEvent;
}

/** Those of the ids that exist. */
export async function findExistingIds(db: Executor, ids: readonly string[]): Promise<Set<string>> {
  // Plan: events_pkey of the partitions that contain the ids.
  const { rows } = await db.execute<{ id: string }>(
    sql`SELECT id FROM events WHERE id = ANY(${sql.param(ids)}::uuid[])`,
  );
  return new Set(rows.map(({ id }) => id));
}

/** The API keys of all sensors by their deviceId. */
export async function listApiKeys(db: Executor): Promise<Map<string, string>> {
  const { rows } = await db.execute<{ device_id: string; api_key: string }>(
    sql`SELECT device_id, api_key FROM sensors`,
  );
  return new Map(rows.map(({ device_id, api_key }) => [device_id, api_key]));
}
