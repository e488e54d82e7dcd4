import type { EventType } from '@gantry/contract/events';
import { type SQL, sql } from 'drizzle-orm';
import { firstIdAt, timeOfId } from '../../events/id.ts';
import { severityOfRank } from '../../events/severity.ts';
import type { Executor } from '../../platform/database/transaction.ts';
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

/** Rows of one query. Events are small, so that a page takes a few megabytes at most. */
const PAGE = 1_000;

interface Row extends Record<string, unknown> {
  readonly id: string;
  readonly severity: number | null;
  readonly created_at: string;
}

/** The events in the order of their times, page by page, so that memory does not grow with their number. */
export async function* exportedPages(db: Executor, filters: ExportFilters): AsyncGenerator<ExportedEvent[]> {
  const { from, until, eventTypes, deviceIds } = filters;
  const last = until === null ? null : firstIdAt(until);
  let after: string | null = null;
  let first: string | null = from === null ? null : firstIdAt(from);
  for (;;) {
    const start: SQL =
      after === null ? (first === null ? sql`true` : sql`events.id >= ${first}`) : sql`events.id > ${after}`;
    // Plan: a merge of events_pkey of the partitions, from the place where the last page ended.
    const { rows }: { rows: Row[] } = await db.execute<Row>(sql`
      SELECT events.id, device_id AS "deviceId", event_type AS "eventType", severity,
        plate AS "licensePlateNumber", vehicle_type AS "vehicleType", vehicle_speed AS "vehicleSpeed",
        violation_type AS "violationType", events.description, events.location, metadata,
        coalesce(images, '[]') AS images, coalesce(tags, '[]') AS tags, sensor_name AS "sensorName",
        sensors.type AS "sensorType", location_name AS "locationName", processed, archived, events.created_at
      FROM events LEFT JOIN sensors ON sensors.id = events.sensor_id
      WHERE ${start}
        AND ${last === null ? sql`true` : sql`events.id < ${last}`}
        AND ${eventTypes.length === 0 ? sql`true` : sql`event_type = ANY(${sql.param(eventTypes)}::text[])`}
        AND ${deviceIds.length === 0 ? sql`true` : sql`device_id = ANY(${sql.param(deviceIds)}::text[])`}
      ORDER BY events.id LIMIT ${PAGE}`);
    if (rows.length > 0) yield rows.map(exported);
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.id ?? null;
    first = null;
  }
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
