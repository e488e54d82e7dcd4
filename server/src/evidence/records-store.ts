import { setTimeout as sleep } from 'node:timers/promises';
import type { SealKind, SealMode } from '@gantry/contract/evidence';
import { type SQL, sql } from 'drizzle-orm';
import { VIOLATION_EVENT_TYPES } from '../events/severity.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';

// What is sealed: the fields of records that never change.

/** Length of an id in a seal, in bytes: that of a UUID; numbers are padded. */
export const ID_BYTES = 16;

/** A record with the fields that are sealed; a field without a value is absent. */
export interface SealedRecord {
  readonly id: string;
  /** When it was written, in Unix milliseconds. */
  readonly at: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

interface Row extends Record<string, unknown> {
  readonly id: string;
  readonly written: string;
}

interface Source {
  readonly table: SQL;
  /** The sealed columns, with the names of the fields. */
  readonly columns: SQL;
  /** When a record was written. The records can be read by it and their ids. */
  readonly written: SQL;
  readonly idType: SQL;
  /** The class of retention that removes such records, if any. */
  readonly retention?: 'events' | 'activity' | 'log' | 'cases';
}

const sources: Readonly<Record<SealKind, Source>> = {
  KEY: {
    table: sql`seal_keys`,
    columns: sql`encode(public_key, 'base64') AS "publicKey", replaces, created_at AS "createdAt"`,
    written: sql`created_at`,
    idType: sql`text`,
  },
  EVENT: {
    table: sql`events`,
    columns: sql`event_type AS "eventType", violation_type AS "violationType", vehicle_type AS "vehicleType",
      severity, sensor_id AS "sensorId", sensor_name AS "sensorName", location_id AS "locationId",
      location_name AS "locationName", location, plate, plate_region AS "plateRegion",
      plate_confidence AS "plateConfidence", vehicle_speed AS "vehicleSpeed", direction, lane,
      vehicle_class AS "vehicleClass", vehicle_length AS "vehicleLength", headway, gap, occupancy_ms AS "occupancyMs",
      movement, passage_id AS "passageId", description, metadata, images, tags, created_at AS "createdAt"`,
    written: sql`created_at`,
    idType: sql`uuid`,
    retention: 'events',
  },
  ACTIVITY: {
    table: sql`activity`,
    // What is counted in a row changes while it is gathered.
    columns: sql`user_id AS "userId", action, at, ip_address AS "ipAddress", user_agent AS "userAgent",
      CASE WHEN gathered IS NULL THEN details ELSE details - ARRAY['count', 'otherAddresses'] END AS details`,
    written: sql`at`,
    idType: sql`bigint`,
    retention: 'activity',
  },
  LOG: {
    table: sql`log_entries`,
    columns: sql`at, created_at AS "createdAt", user_id AS "userId", desk, shift_id AS "shiftId", kind, text, source, refs,
      corrects, valid_until AS "validUntil"`,
    written: sql`created_at`,
    idType: sql`bigint`,
    retention: 'log',
  },
  CASE_LOG: {
    table: sql`case_log`,
    columns: sql`case_id AS "caseId", seq, at, user_id AS "userId", action, details, encode(prev, 'hex') AS prev,
      encode(hash, 'hex') AS hash`,
    written: sql`at`,
    idType: sql`bigint`,
    retention: 'cases',
  },
  CERTIFICATE: {
    table: sql`certificates`,
    // Who withdrew it, and why, is added later.
    columns: sql`sensor_id AS "sensorId", sensor_name AS "sensorName", kind, number, issuer, valid_from AS "validFrom",
      valid_until AS "validUntil", tolerance, encode(sha256, 'hex') AS sha256, file_name AS "fileName", note,
      created_by AS "createdBy", created_at AS "createdAt"`,
    written: sql`created_at`,
    idType: sql`uuid`,
  },
};

/** Names of fields that are times, which PostgreSQL returns as text of its own. */
const TIMES: ReadonlySet<string> = new Set(['at', 'createdAt', 'validFrom', 'validUntil']);

function toRecord({ id, written, ...columns }: Row): SealedRecord {
  const fields: Record<string, unknown> = { id };
  for (const [name, value] of Object.entries(columns)) {
    if (value === null) continue;
    fields[name] = TIMES.has(name) ? new Date(value as string).toISOString() : value;
  }
  return { id, at: new Date(written).getTime(), fields };
}

/** Violations and events with images. */
const IS_EVIDENCE = sql`(coalesce(violation_type, '') <> '' OR images IS NOT NULL
  OR event_type = ANY (${sql.param(VIOLATION_EVENT_TYPES)}::text[]))`;

/** Which record it is, and when it was written, in Unix milliseconds. */
export type RecordMark = Pick<SealedRecord, 'id' | 'at'>;

interface MarkRow extends Record<string, unknown> {
  readonly id: string;
  readonly written: string;
}

const toMark = ({ id, written }: MarkRow): RecordMark => ({ id, at: new Date(written).getTime() });

/**
 * The records of a kind that were written in an interval, the first ones first.
 * @param after the last record of the page before; null for the first page
 */
export async function listRecords(
  db: Executor,
  kind: SealKind,
  { from, until }: Interval,
  {
    after,
    limit,
    mode,
  }: { readonly after: RecordMark | null; readonly limit: number; readonly mode: SealMode },
): Promise<RecordMark[]> {
  const { table, written, idType } = sources[kind];
  const isWanted = kind === 'EVENT' && mode !== 'all' ? sql`AND ${IS_EVIDENCE}` : sql``;
  const isNext =
    after === null ? sql`` : sql`AND (${written}, id) > (${moment(after.at)}, ${after.id}::text::${idType})`;
  // Plan: events_by_creation of each partition, activity_by_time, log_entries_by_creation, case_log_by_time.
  const { rows } = await db.execute<MarkRow>(sql`
    SELECT id::text AS id, ${written} AS written FROM ${table}
    WHERE ${written} >= ${moment(from)} AND ${written} < ${moment(until)} ${isWanted} ${isNext}
    ORDER BY ${written}, id LIMIT ${limit}`);
  return rows.map(toMark);
}

/** The events that hit a list, by alerts of an interval, as far as they are not sealed for another reason. */
export async function listHitEvents(
  db: Executor,
  { from, until }: Interval,
  limit: number,
): Promise<RecordMark[]> {
  const { written } = sources.EVENT;
  // Plan: watchlist_alerts_by_creation, events_pkey.
  const { rows } = await db.execute<MarkRow>(sql`
    SELECT id::text AS id, ${written} AS written FROM events
    WHERE id IN (
      SELECT event_id FROM watchlist_alerts WHERE created_at >= ${moment(from)} AND created_at < ${moment(until)}
    ) AND NOT ${IS_EVIDENCE}
    ORDER BY ${written}, id LIMIT ${limit}`);
  return rows.map(toMark);
}

/** The records with these ids, as far as they exist. */
export async function findRecords(
  db: Executor,
  kind: SealKind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SealedRecord>> {
  const { table, columns, written, idType } = sources[kind];
  const { rows } = await db.execute<Row>(sql`
    SELECT id::text AS id, ${written} AS written, ${columns} FROM ${table}
    WHERE id = ANY (${sql.param(ids)}::text[]::${idType}[])`);
  return new Map(rows.map((row) => [row.id, toRecord(row)]));
}

/** Number of records that are read at once: hashing them takes some 8 ms, in which nothing else of the process proceeds. */
const PART = 50;

/**
 * Finds records in parts, in the order of their ids. After each part, and what the caller does with it, other work of the
 * process proceeds.
 * @param rest says how many times as long as the last part it rests; 0: not at all
 */
export async function* findInParts(
  db: Executor,
  kind: SealKind,
  ids: readonly string[],
  rest: () => number,
): AsyncGenerator<{ readonly part: readonly string[]; readonly records: ReadonlyMap<string, SealedRecord> }> {
  for (let from = 0; from < ids.length; from += PART) {
    const began = performance.now();
    const part = ids.slice(from, from + PART);
    yield { part, records: await findRecords(db, kind, part) };
    await sleep(rest() * (performance.now() - began));
  }
}

/** Whether the records of a kind have numbers instead of UUIDs and hashes. */
function isNumbered(kind: SealKind): boolean {
  return kind === 'ACTIVITY' || kind === 'LOG' || kind === 'CASE_LOG';
}

/** Converts an id to its bytes in a seal. */
export function bytesOfId(kind: SealKind, id: string): Buffer {
  if (!isNumbered(kind)) return Buffer.from(id.replaceAll('-', ''), 'hex');
  const bytes = Buffer.alloc(ID_BYTES);
  bytes.writeBigUInt64BE(BigInt(id), ID_BYTES - 8);
  return bytes;
}

/** Converts the bytes of an id in a seal to the id. */
export function idOfBytes(kind: SealKind, bytes: Buffer): string {
  if (isNumbered(kind)) return String(bytes.readBigUInt64BE(ID_BYTES - 8));
  const hex = bytes.toString('hex');
  return kind === 'KEY' ? hex : hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Those of the records that were erased for a person, as the activity log says. Their leaves do not fit any more. */
export async function findErased(
  db: Executor,
  kind: SealKind,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  // Plan: erased_records_pkey.
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT record_id AS id FROM erased_records JOIN erasures ON erasures.id = erasure_id
    WHERE kind = ${kind} AND record_id = ANY (${sql.param(ids)}::text[]) AND (
      EXISTS (SELECT FROM activity WHERE action = 'privacy.erase' AND details ->> 'erasureId' = erasures.id::text)
      OR EXISTS (SELECT FROM retention_removals WHERE class = 'activity' AND rows > 0
        AND month >= date_trunc('month', started_at AT TIME ZONE 'UTC'))
    )`);
  return new Set(rows.map(({ id }) => id));
}

/**
 * Which of the ids of records that no longer exist were removed as the rules say: by retention, or an event by a user,
 * which the activity log says.
 * @param between when the records were written, at the earliest and latest
 */
export async function findRemoved(
  db: Executor,
  kind: SealKind,
  ids: readonly string[],
  between: Interval,
): Promise<ReadonlySet<string>> {
  const { retention } = sources[kind];
  if (retention === undefined) return new Set();
  const removed = await (retention === 'events'
    ? removedEvents(db, ids)
    : retention === 'cases'
      ? removedWithCases(db, ids)
      : removedOfMonths(db, retention, ids, between));
  return new Set(removed);
}

async function removedEvents(db: Executor, ids: readonly string[]): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT event_id::text AS id FROM unnest(${sql.param(ids)}::text[]::uuid[]) AS event_id
    WHERE EXISTS (
        SELECT FROM retention_removals WHERE class = 'events' AND rows > 0 AND until > event_time(event_id)
          AND month = date_trunc('month', event_time(event_id) AT TIME ZONE 'UTC')::date
      ) OR event_id::text IN (SELECT details ->> 'eventId' FROM activity WHERE action = 'events.delete')`);
  return rows.map(({ id }) => id);
}

async function removedWithCases(db: Executor, ids: readonly string[]): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(
    sql`SELECT id::text AS id FROM removed_case_log WHERE id = ANY (${sql.param(ids)}::text[]::bigint[])`,
  );
  return rows.map(({ id }) => id);
}

async function removedOfMonths(
  db: Executor,
  retention: 'activity' | 'log',
  ids: readonly string[],
  { from, until }: Interval,
): Promise<string[]> {
  const { rows } = await db.execute<{ months: number }>(sql`
    SELECT count(*) AS months FROM retention_removals WHERE class = ${retention} AND rows > 0
      AND month >= date_trunc('month', ${moment(from)} AT TIME ZONE 'UTC')
      AND month <= ${moment(until)} AT TIME ZONE 'UTC'`);
  return (rows[0]?.months ?? 0) > 0 ? [...ids] : [];
}
