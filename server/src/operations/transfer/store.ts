import { type EventType, passageFieldNames } from '@gantry/contract/events';
import { type SQL, sql } from 'drizzle-orm';
import { firstIdAt, timeOfId } from '../../events/id.ts';
import { PASSAGE_COLUMNS, type PassageRecord, passageOf } from '../../events/passage-columns.ts';
import { severityOfRank } from '../../events/severity.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { inPortions } from '../../platform/groups.ts';

/** The fields of an exported event, in the order of the columns of a CSV file. Those that the import ignores are last. */
export const fields = [
  'id',
  'timestamp',
  'deviceId',
  'eventType',
  'severity',
  'licensePlateNumber',
  'vehicleType',
  'vehicleSpeed',
  'violationType',
  'description',
  'location',
  'metadata',
  'images',
  'tags',
  ...passageFieldNames,
  'sensorName',
  'sensorType',
  'locationName',
  'processed',
  'archived',
  'createdAt',
] as const;
type FieldName = (typeof fields)[number];

/** An exported event; null for what is unknown. */
export type ExportedEvent = Readonly<Record<FieldName, unknown>>;

/** The formats of files. */
export const transferFormats = ['jsonl', 'csv'] as const;
export type TransferFormat = (typeof transferFormats)[number];

/** Which events are exported. */
export interface ExportFilters {
  /** Unix milliseconds. */
  readonly from: number | null;
  /** Unix milliseconds, not included. */
  readonly until: number | null;
  readonly eventTypes: readonly EventType[];
  readonly deviceIds: readonly string[];
}

/** Number of events that are looked up together. */
const PAGE = 1_000;

/**
 * Maximum size of the metadata and images that are read together, in bytes as stored. PostgreSQL compresses them, usually
 * to a third and never to less than a hundredth.
 */
const MAX_STORED = 1_000_000;

interface Found extends Record<string, unknown> {
  readonly id: string;
  readonly stored: number;
}

interface Row extends PassageRecord {
  readonly id: string;
  readonly severity: number | null;
  readonly created_at: string;
}

/** The events in the order of their times, in portions, so that memory does not grow with their number and size. */
export async function* exportedPages(db: Executor, filters: ExportFilters): AsyncGenerator<ExportedEvent[]> {
  const sensorIds = filters.deviceIds.length === 0 ? null : await findSensorIds(db, filters.deviceIds);
  let after: string | null = null;
  for (;;) {
    const found = await findPage(db, filters, sensorIds, after);
    for (const portion of inPortions(found, MAX_STORED, ({ stored }) => stored))
      yield await readEvents(
        db,
        portion.map(({ id }) => id),
      );
    if (found.length < PAGE) return;
    after = found.at(-1)?.id ?? null;
  }
}

async function findSensorIds(db: Executor, deviceIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(
    sql`SELECT id FROM sensors WHERE device_id = ANY(${sql.param(deviceIds)}::text[])`,
  );
  return rows.map(({ id }) => id);
}

/**
 * The ids and sizes of the events that follow an id, in the order of their times.
 * @param sensorIds null for all sensors
 */
async function findPage(
  db: Executor,
  { from, until, eventTypes }: ExportFilters,
  sensorIds: readonly string[] | null,
  after: string | null,
): Promise<readonly Found[]> {
  if (sensorIds?.length === 0) return [];
  const start: SQL =
    after !== null ? sql`id > ${after}` : from !== null ? sql`id >= ${firstIdAt(from)}` : sql`true`;
  const pageOf = (sensor: SQL): SQL => sql`(
    SELECT id, coalesce(pg_column_size(metadata), 0) + coalesce(pg_column_size(images), 0) AS stored FROM events
    WHERE ${sensor} AND ${start}
      AND ${until === null ? sql`true` : sql`id < ${firstIdAt(until)}`}
      AND ${eventTypes.length === 0 ? sql`true` : sql`event_type = ANY(${sql.param(eventTypes)}::text[])`}
    ORDER BY id LIMIT ${PAGE})`;
  const pages = sensorIds === null ? [sql`true`] : sensorIds.map((id) => sql`sensor_id = ${id}::uuid`);
  // Plan: a merge of events_pkey of the partitions, or of events_by_sensor for each sensor, from the place where the last
  // page ended.
  const { rows } = await db.execute<Found>(sql`
    SELECT id, stored FROM (${sql.join(pages.map(pageOf), sql` UNION ALL `)}) AS found ORDER BY id LIMIT ${PAGE}`);
  return rows;
}

async function readEvents(db: Executor, ids: readonly string[]): Promise<ExportedEvent[]> {
  // Plan: events_pkey of the partitions that contain the ids.
  const { rows } = await db.execute<Row>(sql`
    SELECT events.id, device_id AS "deviceId", event_type AS "eventType", severity,
      plate AS "licensePlateNumber", vehicle_type AS "vehicleType", vehicle_speed AS "vehicleSpeed",
      violation_type AS "violationType", events.description, events.location, metadata,
      coalesce(images, '[]') AS images, coalesce(tags, '[]') AS tags, sensor_name AS "sensorName",
      sensors.type AS "sensorType", location_name AS "locationName", processed, archived, events.created_at,
      ${sql.raw(PASSAGE_COLUMNS)}
    FROM events LEFT JOIN (SELECT id, device_id, type FROM sensors) AS sensors ON sensors.id = events.sensor_id
    WHERE events.id = ANY(${sql.param(ids)}::uuid[])
    ORDER BY events.id`);
  return rows.map(exported);
}

function exported({ severity, created_at, ...row }: Row): ExportedEvent {
  return {
    ...row,
    ...passageOf(row),
    timestamp: new Date(timeOfId(row.id)).toISOString(),
    severity: severity === null ? null : severityOfRank(severity),
    createdAt: new Date(created_at).toISOString(),
  } as unknown as ExportedEvent;
}

/** Those of the ids whose events exist, or are recorded as deleted by a user. */
export async function findExistingIds(db: Executor, ids: readonly string[]): Promise<Set<string>> {
  const wanted = sql`${sql.param(ids)}::uuid[]`;
  // Plan: events_pkey of the partitions that contain the ids. Two statements, because events may be on other nodes than
  // the other tables.
  const { rows: existing } = await db.execute<{ id: string }>(
    sql`SELECT id FROM events WHERE id = ANY(${wanted})`,
  );
  const { rows: deleted } = await db.execute<{ id: string }>(
    sql`SELECT event_id AS id FROM deleted_events WHERE event_id = ANY(${wanted})`,
  );
  return new Set([...existing, ...deleted].map(({ id }) => id));
}

/** The API keys of all sensors by their deviceId. */
export async function listApiKeys(db: Executor): Promise<Map<string, string>> {
  const { rows } = await db.execute<{ device_id: string; api_key: string }>(
    sql`SELECT device_id, api_key FROM sensors`,
  );
  return new Map(rows.map(({ device_id, api_key }) => [device_id, api_key]));
}
