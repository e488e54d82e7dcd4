import { type SQL, sql } from 'drizzle-orm';
import { channels, notify } from '../../platform/database/notify.ts';
import type { Executor, Transaction } from '../../platform/database/transaction.ts';
import type { Place } from './places.ts';

/** A row in which the plate was looked for. */
export interface PlaceRow {
  /** The values of the primary key, as text. */
  readonly key: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
}

/** A column with its type in PostgreSQL. */
interface TypedColumn {
  readonly name: string;
  readonly type: string;
}

/** A table to search. */
export interface SearchedTable extends Omit<Place, 'key'> {
  readonly name: string;
  readonly key: readonly TypedColumn[];
  readonly types: ReadonlyMap<string, string>;
}

/** The tables of the schema with the columns of their primary keys, and the types of all columns. */
export async function readTables(
  db: Executor,
  places: Readonly<Record<string, Place>>,
): Promise<SearchedTable[]> {
  const { rows } = await db.execute<{ table: string; name: string; type: string; rank: number | null }>(sql`
    SELECT relname AS table, attname AS name, format_type(atttypid, atttypmod) AS type,
      array_position(indkey::int2[], attnum) AS rank
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
    LEFT JOIN pg_index ON indrelid = pg_class.oid AND indisprimary
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    ORDER BY relname, rank, attnum`);
  return Object.entries(places).flatMap(([name, place]) => {
    const columns = rows.filter((row) => row.table === name);
    if (columns.length === 0 || place.texts.length + place.named.length === 0) return [];
    const key =
      place.key === undefined
        ? columns.filter(({ rank }) => rank !== null)
        : place.key.flatMap((name) => columns.filter((column) => column.name === name));
    return [{ ...place, name, key, types: new Map(columns.map((column) => [column.name, column.type])) }];
  });
}

const id = (name: string) => sql.identifier(name);
const list = (columns: readonly TypedColumn[]) =>
  sql.join(
    columns.map(({ name }) => id(name)),
    sql`, `,
  );

/** What is sought in a table besides the plate: rows about these events. */
export interface Sought {
  /** `patternOf` the key. */
  readonly pattern: string | null;
  readonly eventIds: readonly string[];
}

/** A condition for rows that may name the plate: it leaves none out, and few in that do not. */
function mayNamePlate({ texts, named, events, types }: SearchedTable, { pattern, eventIds }: Sought): SQL {
  const columns = [...texts, ...named];
  const text = sql.join(
    columns.map((name) => sql`coalesce(${id(name)}::text, '')`),
    sql` || ' ' || `,
  );
  const spelled = pattern === null ? sql`false` : sql`content ~* ${pattern}`;
  const about =
    events === undefined || eventIds.length === 0
      ? sql`false`
      : types.get(events)?.endsWith('[]')
        ? sql`${id(events)} && ${sql.param([...eventIds])}::uuid[]`
        : sql`${id(events)} = ANY (${sql.param([...eventIds])}::uuid[])`;
  return sql`(${about} OR EXISTS (
    SELECT FROM (SELECT ${text} AS content) AS said WHERE ${spelled}
      OR octet_length(content) <> length(content) OR content ~ '\\\\[ut]|%[0-9a-fA-F]{2}|&#|"base64": ?"'
  ))`;
}

/** The next rows of a table in the order of its primary key. */
export async function pageOfPlace(
  db: Executor,
  table: SearchedTable,
  sought: Sought,
  after: readonly string[] | null,
  limit: number,
): Promise<{ readonly last: readonly string[] | null; readonly rows: readonly PlaceRow[] }> {
  const { name, key, texts, named, events } = table;
  const isNext = after === null ? sql`true` : sql`(${list(key)}) > (${valuesOf(key, after)})`;
  const columns = [...texts, ...named, ...(events === undefined ? [] : [events])];
  const keyText = sql`ARRAY[${sql.join(
    key.map((column) => sql`${id(column.name)}::text`),
    sql`, `,
  )}]`;
  const values = sql`jsonb_build_object(${sql.join(
    columns.map((column) => sql`${column}::text, ${id(column)}`),
    sql`, `,
  )})`;
  // Plan: the primary key of the table.
  const { rows } = await db.execute<{
    key: string[];
    values: Record<string, unknown> | null;
    isHit: boolean;
  }>(sql`
    SELECT key, CASE WHEN hit THEN said END AS values, hit AS "isHit" FROM (
      SELECT ${keyText} AS key, ${values} AS said, ${mayNamePlate(table, sought)} AS hit,
        lead(true) OVER (ORDER BY ${list(key)}) IS NULL AS is_last
      FROM (SELECT * FROM ${id(name)} WHERE ${isNext} ORDER BY ${list(key)} LIMIT ${limit}) AS page
    ) AS found WHERE hit OR is_last ORDER BY is_last`);
  return {
    last: rows.at(-1)?.key ?? null,
    rows: rows.flatMap(({ key: of, values: said, isHit }) =>
      isHit && said ? [{ key: of, values: said }] : [],
    ),
  };
}

function valuesOf(key: readonly TypedColumn[], values: readonly string[]): SQL {
  return sql.join(
    key.map(({ type }, at) => sql`${values[at] ?? null}::text::${sql.raw(type)}`),
    sql`, `,
  );
}

function isRow({ key }: SearchedTable, values: readonly string[]): SQL {
  return sql`(${list(key)}) = (${valuesOf(key, values)})`;
}

/** A row as it is now, locked until the transaction ends; null if it was removed meanwhile. */
export async function lockPlaceRow(
  tx: Transaction,
  table: SearchedTable,
  key: readonly string[],
): Promise<Readonly<Record<string, unknown>> | null> {
  const { rows } = await tx.execute<{ values: Record<string, unknown> }>(sql`
    SELECT to_jsonb(${id(table.name)}) AS values FROM ${id(table.name)} WHERE ${isRow(table, key)} FOR UPDATE`);
  return rows[0]?.values ?? null;
}

/** Stores the masked columns of a row. */
export async function maskPlaceRow(
  tx: Transaction,
  table: SearchedTable,
  key: readonly string[],
  masked: Readonly<Record<string, unknown>>,
): Promise<void> {
  const set = sql.join(
    Object.entries(masked).map(
      ([name, value]) => sql`${id(name)} = ${encoded(table.types.get(name), value)}`,
    ),
    sql`, `,
  );
  // The triggers of records that are never changed let the texts of an erasure pass.
  await tx.execute(sql`SELECT set_config('gantry.erasing', 'on', true)`);
  await tx.execute(sql`UPDATE ${id(table.name)} SET ${set} WHERE ${isRow(table, key)}`);
}

function encoded(type: string | undefined, value: unknown): SQL {
  if (type === 'jsonb') return sql`${JSON.stringify(value)}::jsonb`;
  if (type?.endsWith('[]')) return sql`${sql.param(value)}::text[]`;
  return sql`${value as string}::text`;
}

export async function removePlaceRow(
  tx: Transaction,
  table: SearchedTable,
  key: readonly string[],
): Promise<void> {
  await tx.execute(sql`DELETE FROM ${id(table.name)} WHERE ${isRow(table, key)}`);
}

/** Removes an entry of the watchlist or of a hotlist, with what was derived from it. */
export async function removeListEntry(
  tx: Transaction,
  table: SearchedTable,
  key: readonly string[],
  { id: entryId, hotlist_id: hotlistId, to_version: until }: Readonly<Record<string, unknown>>,
): Promise<void> {
  await removePlaceRow(tx, table, key);
  await notify(tx, table.name === 'watchlist_entries' ? channels.watchlist : channels.hotlists, '');
  if (table.name !== 'hotlist_entries') return;
  await tx.execute(sql`
    DELETE FROM hotlist_near WHERE entry_id = ${String(entryId)}::uuid AND hotlist_id = ${String(hotlistId)}::uuid`);
  if (until !== null) return;
  await tx.execute(
    sql`UPDATE hotlists SET entry_count = entry_count - 1 WHERE id = ${String(hotlistId)}::uuid AND entry_count > 0`,
  );
}

/** An event with the plate. */
export interface FoundEvent extends Record<string, unknown> {
  readonly id: string;
  /** When it was stored, in Unix milliseconds. */
  readonly storedAt: number;
}

const STORED_AT = sql`(extract(epoch FROM created_at) * 1000)::float8 AS "storedAt"`;

/** The next events with one of the keys, in the order of time. */
export async function pageOfEvents(
  db: Executor,
  keys: readonly string[],
  after: string | null,
  limit: number,
): Promise<FoundEvent[]> {
  const isNext = after === null ? sql`true` : sql`id > ${after}::uuid`;
  // Plan: events_by_plate of every partition.
  const { rows } = await db.execute<FoundEvent>(sql`
    SELECT id::text AS id, ${STORED_AT} FROM events
    WHERE plate_key = ANY (${sql.param([...keys])}::text[]) AND ${isNext} ORDER BY events.id LIMIT ${limit}`);
  return rows;
}

/** Everything that is stored of events, with the names of the columns. */
export async function readEvents(db: Executor, ids: readonly string[]): Promise<Record<string, unknown>[]> {
  const { rows } = await db.execute<{ event: Record<string, unknown> }>(sql`
    SELECT to_jsonb(events) - ARRAY['content_hash', 'location_key', 'plate_key']
      || jsonb_build_object('time', event_time(id)) AS event
    FROM events WHERE id = ANY (${sql.param([...ids])}::uuid[]) ORDER BY id`);
  return rows.map(({ event }) => event);
}

/**
 * Clears what events say about a vehicle: its plate, the texts and the images of the device. That a vehicle passed, when, where
 * and how, stays, and so do all counts. Another report with the same idempotency key does not bring it back.
 */
export async function clearEvents(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx.execute(sql`
    UPDATE events SET plate = NULL, plate_key = NULL, plate_region = NULL, plate_confidence = NULL, description = NULL,
      metadata = NULL, images = NULL, tags = NULL,
      content_hash = CASE WHEN content_hash IS NOT NULL THEN gen_random_uuid() END
    WHERE id = ANY (${sql.param([...ids])}::uuid[])`);
  await tx.execute(
    sql`DELETE FROM events_to_follow_up WHERE event_id = ANY (${sql.param([...ids])}::uuid[])`,
  );
}

/** Removes what refers to images from these events, or from these messages. @returns the hashes of the images */
export async function releaseImages(
  tx: Transaction,
  of: 'event' | 'message',
  ids: readonly string[],
): Promise<string[]> {
  const source =
    of === 'event' ? sql`event_images WHERE event_id` : sql`device_message_images WHERE message_id`;
  const { rows } = await tx.execute<{ sha256: string }>(sql`
    DELETE FROM ${source} = ANY (${sql.param([...ids])}::uuid[]) RETURNING encode(sha256, 'hex') AS sha256`);
  return [...new Set(rows.map(({ sha256 }) => sha256))];
}

/** The images of events. */
export async function listImagesOf(
  db: Executor,
  eventIds: readonly string[],
): Promise<{ readonly eventId: string; readonly sha256: string }[]> {
  const { rows } = await db.execute<{ eventId: string; sha256: string }>(sql`
    SELECT event_id::text AS "eventId", encode(sha256, 'hex') AS sha256 FROM event_images
    WHERE event_id = ANY (${sql.param([...eventIds])}::uuid[]) ORDER BY 1, 2`);
  return rows;
}

/** What else has an image of an event. */
export interface SharedImage extends Record<string, unknown> {
  readonly sha256: string;
  readonly of: 'incident' | 'fault' | 'case' | 'event';
  readonly id: string;
}

/** What has the images besides some events: people attached them, or another event has the same. */
export async function listSharedImages(
  db: Executor,
  hashes: readonly string[],
  besides: readonly string[],
): Promise<SharedImage[]> {
  const among = sql`sha256 IN (SELECT decode(hex, 'hex') FROM unnest(${sql.param([...hashes])}::text[]) AS hex)`;
  const { rows } = await db.execute<SharedImage>(sql`
    SELECT DISTINCT encode(sha256, 'hex') AS sha256, "of", id::text AS id FROM (
      SELECT sha256, 'incident' AS "of", incident_id AS id FROM incident_images WHERE ${among}
      UNION ALL SELECT sha256, 'fault', fault_id FROM fault_images WHERE ${among}
      UNION ALL SELECT sha256, 'case', case_id FROM case_items WHERE ${among}
      UNION ALL SELECT sha256, 'event', event_id FROM event_images
        WHERE ${among} AND event_id <> ALL (${sql.param([...besides])}::uuid[])
    ) AS shared ORDER BY 1, 2, 3`);
  return rows;
}

/** Holds in effect that contain one of the events. */
export async function listHoldsOf(
  db: Executor,
  eventIds: readonly string[],
): Promise<{ readonly id: string; readonly reason: string; readonly events: number }[]> {
  const { rows } = await db.execute<{ id: string; reason: string; events: number }>(sql`
    SELECT legal_holds.id::text AS id, reason, count(*)::int AS events FROM legal_holds JOIN held_events ON hold_id = id
    WHERE released_at IS NULL AND event_id = ANY (${sql.param([...eventIds])}::uuid[]) GROUP BY 1, 2 ORDER BY 1`);
  return rows;
}

/** Reports whose files may show what happened at one of these times, or in one of these incidents. */
export async function listReportsAbout(
  db: Executor,
  { moments, incidentIds }: { readonly moments: readonly number[]; readonly incidentIds: readonly string[] },
): Promise<{ readonly id: string; readonly fileKey: string | null; readonly isOver: boolean }[]> {
  const times = sql`unnest(${sql.param([...moments])}::float8[])`;
  const { rows } = await db.execute<{ id: string; fileKey: string | null; isOver: boolean }>(sql`
    SELECT id::text AS id, file_key AS "fileKey", status NOT IN ('QUEUED', 'RUNNING') AS "isOver" FROM reports
    WHERE (kind IN ('VIOLATIONS', 'EVENTS', 'INCIDENTS', 'INCIDENT_CHRONOLOGY', 'DAILY_SUMMARY', 'SENSOR_HEALTH')
        AND EXISTS (SELECT FROM ${times} AS at
          WHERE to_timestamp(at / 1000) >= starts_at AND to_timestamp(at / 1000) < ends_at))
      OR id IN (SELECT report_id FROM situation_reports WHERE incident_id = ANY (${sql.param([...incidentIds])}::uuid[]))
    ORDER BY id`);
  return rows;
}

/** The incidents to which one of the events belongs. */
export async function listIncidentsOf(db: Executor, eventIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT DISTINCT incident_id::text AS id FROM incident_events WHERE event_id = ANY (${sql.param([...eventIds])}::uuid[])`);
  return rows.map(({ id: incident }) => incident);
}

/** When incidents were opened, in Unix milliseconds. */
export async function readOpenings(db: Executor, incidentIds: readonly string[]): Promise<number[]> {
  const { rows } = await db.execute<{ at: number }>(sql`
    SELECT (extract(epoch FROM opened_at) * 1000)::float8 AS at FROM incidents
    WHERE id = ANY (${sql.param([...incidentIds])}::uuid[])`);
  return rows.map(({ at }) => at);
}

export async function removeReports(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx.execute(sql`DELETE FROM reports WHERE id = ANY (${sql.param([...ids])}::uuid[])`);
}

/** Those of the keys that events have. */
export async function findKnownKeys(db: Executor, keys: readonly string[]): Promise<string[]> {
  const { rows } = await db.execute<{ key: string }>(sql`
    SELECT key FROM unnest(${sql.param([...keys])}::text[]) AS key
    WHERE EXISTS (SELECT FROM events WHERE plate_key = key)`);
  return rows.map(({ key }) => key);
}

/** An erasure, as it is recorded. */
export interface ErasureRow extends Record<string, unknown> {
  readonly id: string;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly requestedBy: string;
  readonly reason: string;
  readonly salt: Buffer;
  readonly proof: Buffer;
  /** Unix milliseconds */
  readonly firstAt: number | null;
  readonly counts: Readonly<Record<string, number>>;
}

/** All erasures, the first ones first. */
export async function listErasures(db: Executor): Promise<ErasureRow[]> {
  const { rows } = await db.execute<ErasureRow>(sql`
    SELECT id::text AS id, started_at AS "startedAt", finished_at AS "finishedAt", requested_by AS "requestedBy", reason,
      salt, proof, (extract(epoch FROM first_at) * 1000)::float8 AS "firstAt", counts
    FROM erasures ORDER BY started_at, id`);
  return rows;
}

export async function insertErasure(
  tx: Transaction,
  { requestedBy, reason, salt, proof }: Pick<ErasureRow, 'requestedBy' | 'reason' | 'salt' | 'proof'>,
): Promise<string> {
  const { rows } = await tx.execute<{ id: string }>(sql`
    INSERT INTO erasures (requested_by, reason, salt, proof) VALUES (${requestedBy}, ${reason}, ${salt}, ${proof})
    RETURNING id::text AS id`);
  if (!rows[0]) throw new Error('PostgreSQL did not return the inserted erasure');
  return rows[0].id;
}

/** Counts erased records of a place. @param firstAt when the first of erased events was stored, in Unix milliseconds */
export async function countErased(
  tx: Transaction,
  erasureId: string,
  place: string,
  rows: number,
  firstAt: number | null = null,
): Promise<void> {
  await tx.execute(sql`
    UPDATE erasures SET
      counts = counts || jsonb_build_object(${place}::text, coalesce((counts ->> ${place}::text)::int, 0) + ${rows}::int),
      first_at = least(first_at, to_timestamp(${firstAt}::float8 / 1000))
    WHERE id = ${erasureId}::uuid`);
}

/** The kinds of records that may be sealed. */
export type ErasedKind = 'EVENT' | 'ACTIVITY' | 'LOG';

export async function noteErased(
  tx: Transaction,
  erasureId: string,
  kind: ErasedKind,
  ids: readonly string[],
): Promise<void> {
  await tx.execute(sql`
    INSERT INTO erased_records (kind, record_id, erasure_id)
    SELECT ${kind}, record_id, ${erasureId}::uuid FROM unnest(${sql.param([...ids])}::text[]) AS record_id
    ON CONFLICT DO NOTHING`);
}

/** The events that an erasure has cleared so far. */
export async function listErasedEvents(db: Executor, erasureId: string): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT record_id AS id FROM erased_records WHERE erasure_id = ${erasureId}::uuid AND kind = 'EVENT' ORDER BY 1`);
  return rows.map(({ id: event }) => event);
}

/** Notes images of what was erased that something else has, until the erasure is finished. */
export async function noteKeptImages(
  tx: Transaction,
  erasureId: string,
  hashes: readonly string[],
): Promise<void> {
  if (hashes.length === 0) return;
  await tx.execute(sql`
    UPDATE erasures SET kept_images = ARRAY(
      SELECT unnest(kept_images) UNION SELECT decode(hex, 'hex') FROM unnest(${sql.param([...hashes])}::text[]) AS hex)
    WHERE id = ${erasureId}::uuid`);
}

/** The hashes of the images that were noted, also before an interruption. */
export async function listKeptImages(db: Executor, erasureId: string): Promise<string[]> {
  const { rows } = await db.execute<{ sha256: string }>(sql`
    SELECT encode(unnest(kept_images), 'hex') AS sha256 FROM erasures WHERE id = ${erasureId}::uuid`);
  return rows.map(({ sha256 }) => sha256);
}

export async function finishErasure(
  tx: Transaction,
  erasureId: string,
): Promise<Readonly<Record<string, number>>> {
  const { rows } = await tx.execute<{ counts: Record<string, number> }>(
    sql`UPDATE erasures SET finished_at = now(), kept_images = '{}' WHERE id = ${erasureId}::uuid RETURNING counts`,
  );
  return rows[0]?.counts ?? {};
}
