import type { Pool, PoolClient } from 'pg';
import { type Column, double, json, namesOf, rowsOf, smallint, text, uuid } from '../database/columns.ts';
import { isUniqueViolation } from '../database/failure.ts';
import { channels } from '../database/notify.ts';
import { createDatabase } from '../database/pool.ts';
import type { BringAbout } from './consequences.ts';
import type { EventRow } from './enrich.ts';
import { type Count, tally } from './tally.ts';

/** Longest wait for one group's commit, in milliseconds. */
const COMMIT_TIMEOUT_MS = 10_000;

const eventColumns: readonly Column<EventRow>[] = [
  uuid('id', (row) => row.id),
  text('event_type', (row) => row.eventType),
  text('violation_type', (row) => row.violationType),
  text('vehicle_type', (row) => row.vehicleType),
  smallint('severity', (row) => row.severity),
  uuid('sensor_id', (row) => row.sensorId),
  text('sensor_name', (row) => row.sensorName),
  uuid('location_id', (row) => row.locationId),
  text('location_name', (row) => row.locationName),
  text('plate', (row) => row.plate),
  text('plate_key', (row) => row.plateKey),
  double('vehicle_speed', (row) => row.vehicleSpeed),
  text('description', (row) => row.description),
  json('location', (row) => row.locationJson),
  json('metadata', (row) => row.metadataJson),
  json('images', (row) => row.imagesJson),
  json('tags', (row) => row.tagsJson),
  uuid('content_hash', (row) => row.contentHash),
];

const countColumns: readonly Column<Count>[] = [
  double('hour', ({ hour }) => hour, 'to_timestamp(hour)'),
  text('event_type', ({ of }) => of.eventType),
  text('violation_type', ({ of }) => of.violationType ?? ''),
  text('vehicle_type', ({ of }) => of.vehicleType ?? ''),
  smallint('severity', ({ of }) => of.severity ?? 0),
  double('n', ({ n }) => n),
];

/** One message for the whole group, because NOTIFY takes a lock of the whole server at its commit. */
const NOTIFY = `pg_notify('${channels.changes}', '')`;

const INSERT = `INSERT INTO events (${namesOf(eventColumns)}) ${rowsOf(eventColumns, 1)}`;

// The common case: no event of the group is stored yet, so what it adds to the totals is known beforehand.
// One statement, so one round trip and one commit for the whole group: 40 µs an event in groups of 60, half of it for indexes.
const INSERT_NEW = {
  name: 'insert-new-events',
  text: `
    WITH stored AS (${INSERT}),
    arrived AS (INSERT INTO event_arrivals (hour, n) SELECT date_trunc('hour', now(), 'UTC'), $${eventColumns.length + 1}),
    told AS (INSERT INTO changes (topic, event_ids) VALUES ('events', $1) RETURNING ${NOTIFY})
    INSERT INTO event_totals (${namesOf(countColumns)}) ${rowsOf(countColumns, eventColumns.length + 2)}`,
};

// The other case: some have an idempotency key that was used before. Only those that are new are counted.
const INSERT_MISSING = {
  name: 'insert-missing-events',
  text: `
    WITH stored AS (
      ${INSERT} ON CONFLICT DO NOTHING
      RETURNING id, event_type, violation_type, vehicle_type, severity
    ), arrived AS (
      INSERT INTO event_arrivals (hour, n) SELECT date_trunc('hour', now(), 'UTC'), count(*) FROM stored
    ), counted AS (
      INSERT INTO event_totals (hour, event_type, violation_type, vehicle_type, severity, n)
      SELECT event_hour(id), event_type, coalesce(violation_type, ''), coalesce(vehicle_type, ''),
        coalesce(severity, 0), count(*)
      FROM stored GROUP BY 1, 2, 3, 4, 5
    ), told AS (
      INSERT INTO changes (topic, event_ids) SELECT 'events', array_agg(id) FROM stored HAVING count(*) > 0
      RETURNING ${NOTIFY}
    )
    SELECT id FROM stored`,
};

/** Events with a key may be sent to several processes at once: in one order, so that these wait but do not deadlock. */
const inLockOrder = (rows: readonly EventRow[]): readonly EventRow[] =>
  rows.some(({ contentHash }) => contentHash !== null)
    ? [...rows].sort((a, b) => (a.id < b.id ? -1 : 1))
    : rows;

type Connection = Pick<PoolClient, 'query'>;

/** @returns whether the connection can be used again */
const rollBack = (client: PoolClient): Promise<boolean> =>
  client.query('ROLLBACK').then(
    () => true,
    () => false,
  );

const insertNew = async (db: Connection, rows: readonly EventRow[]): Promise<void> => {
  const counts = tally(rows);
  const values = [
    ...eventColumns.map(({ encode }) => encode(rows)),
    rows.length,
    ...countColumns.map(({ encode }) => encode(counts)),
  ];
  const query = { ...INSERT_NEW, values, query_timeout: COMMIT_TIMEOUT_MS };
  await db.query(query);
};

/** @returns the ids of those that were not stored before */
const insertMissing = async (db: Connection, rows: readonly EventRow[]): Promise<ReadonlySet<string>> => {
  const values = eventColumns.map(({ encode }) => encode(rows));
  const query = { ...INSERT_MISSING, values, query_timeout: COMMIT_TIMEOUT_MS };
  const { rows: stored } = await db.query<{ id: string }>(query);
  return new Set(stored.map(({ id }) => id));
};

/** Nothing but the events: one statement is one transaction. */
const insertAlone = async (pool: Pool, rows: readonly EventRow[]): Promise<ReadonlySet<string>> => {
  try {
    await insertNew(pool, rows);
    return new Set(rows.map(({ id }) => id));
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
  }
  return insertMissing(pool, rows);
};

/** The events and what follows from those that are new, in one transaction. */
const insertWith = async (
  pool: Pool,
  rows: readonly EventRow[],
  bringAbout: BringAbout,
): Promise<ReadonlySet<string>> => {
  const client = await pool.connect();
  let isClean = false;
  try {
    await client.query('BEGIN');
    const fresh = await insertMissing(client, rows);
    await bringAbout(createDatabase(client), fresh);
    await client.query('COMMIT');
    isClean = true;
    return fresh;
  } finally {
    if (!isClean) isClean = await rollBack(client);
    client.release(!isClean);
  }
};

/**
 * Stores a group of events, counts them and brings about what follows from those that are new, in one transaction.
 * @returns the ids of those that were stored before; they are left as they are
 */
export const insertEvents = async (
  pool: Pool,
  rows: readonly EventRow[],
  bringAbout: BringAbout | null,
): Promise<ReadonlySet<string>> => {
  const ordered = inLockOrder(rows);
  const fresh = bringAbout ? await insertWith(pool, ordered, bringAbout) : await insertAlone(pool, ordered);
  return new Set(rows.flatMap(({ id }) => (fresh.has(id) ? [] : [id])));
};

/** The content hashes of those of the events that are stored, by id. */
export const findContentHashes = async (
  pool: Pool,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> => {
  const { rows } = await pool.query<{ id: string; content_hash: string | null }>(
    'SELECT id, content_hash FROM events WHERE id = ANY($1::uuid[])',
    [ids],
  );
  return new Map(rows.map((row) => [row.id, row.content_hash]));
};
