import { type SQL, sql } from 'drizzle-orm';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { always, type History, heldAt } from '../platform/history.ts';
import { slotOf } from '../platform/time.ts';

/** The location of a sensor and its speed limit (km/h); null for none. */
export interface Placement {
  readonly locationId: string | null;
  readonly locationName: string | null;
  readonly speedLimit: number | null;
}

/** The present state of locations and the history of limits that changed, by id. */
interface KnownLocations {
  readonly present: ReadonlyMap<string, { readonly name: string; readonly speedLimit: number | null }>;
  readonly limits: ReadonlyMap<string, History<number | null>>;
}

/** The locations of sensors over time; null for none. */
const sensorPlaces = historyTable<string>({
  table: 'sensor_places',
  id: 'sensor_id',
  value: 'location_id',
  type: 'uuid',
});

/** The speed limits (km/h) over time of locations whose limit has changed; null for none. */
export const locationLimits = historyTable<number>({
  table: 'location_limits',
  id: 'location_id',
  value: 'speed_limit',
  type: 'double precision',
});

/**
 * Records that a sensor was moved, in the transaction that moves it. If it had no location so far, the new one is
 * assumed to apply also to the time before its first event, but not to the time between that event and the move: those
 * events were stored without a location.
 */
export async function recordMove(
  tx: Executor,
  sensorId: string,
  from: string | null,
  to: string | null,
): Promise<void> {
  if (from === null && to !== null && !(await sensorPlaces.read(tx, [sensorId])).has(sensorId)) {
    const first = await findFirstSlot(tx, sensorId);
    if (first !== null) await sensorPlaces.record(tx, sensorId, to, null, first);
  }
  await sensorPlaces.record(tx, sensorId, from, to);
}

/**
 * The slot of five minutes (Unix milliseconds) of the first event of a sensor; null for none. Two statements, because
 * events may be on other nodes than the other tables.
 */
async function findFirstSlot(db: Executor, sensorId: string): Promise<number | null> {
  // Counts outlive their events, and events are counted some seconds after they have arrived.
  const { rows: counted } = await db.execute<{ at: string | null }>(
    sql`SELECT min(first_slot) AS at FROM traffic_places WHERE sensor_id = ${sensorId}::uuid`,
  );
  // Plan: events_by_sensor from its beginning.
  const { rows: stored } = await db.execute<{ at: string }>(
    sql`SELECT event_time(id) AS at FROM events WHERE sensor_id = ${sensorId}::uuid ORDER BY id LIMIT 1`,
  );
  const times = [...counted, ...stored].flatMap(({ at }) => (at === null ? [] : [new Date(at).getTime()]));
  return times.length === 0 ? null : slotOf(Math.min(...times));
}

/**
 * The locations of a sensor over time, with the limit at each time.
 * @param present its location now
 */
export async function readPlacements(
  db: Executor,
  sensorId: string,
  present: string | null,
): Promise<History<Placement>> {
  const places = (await sensorPlaces.read(db, [sensorId])).get(sensorId) ?? always(present);
  const ids = [...new Set(places.flatMap(({ value }) => value ?? []))];
  const { rows } = await db.execute<{ id: string; name: string; speed_limit: number | null }>(
    sql`SELECT id, name, speed_limit FROM locations WHERE id = ANY (${sql.param(ids)}::uuid[])`,
  );
  return placementsOf(places, {
    present: new Map(rows.map((row) => [row.id, { name: row.name, speedLimit: row.speed_limit }])),
    limits: await locationLimits.read(db, ids),
  });
}

/**
 * The locations of a sensor over time with their limits: it changes when the sensor is moved, or a limit is changed.
 */
function placementsOf(places: History<string | null>, locations: KnownLocations): History<Placement> {
  return places.flatMap(({ since, value: locationId }, n) => {
    const until = places[n + 1]?.since ?? Number.POSITIVE_INFINITY;
    const limits = limitsOf(locations, locationId);
    const locationName = locationId === null ? null : (locations.present.get(locationId)?.name ?? null);
    const changes = limits.map((limit) => limit.since).filter((at) => at > since && at < until);
    return [since, ...changes].map((at) => ({
      since: at,
      value: { locationId, locationName, speedLimit: heldAt(limits, at) ?? null },
    }));
  });
}

/** The history of a location's limits. */
function limitsOf({ present, limits }: KnownLocations, locationId: string | null): History<number | null> {
  if (locationId === null) return always(null);
  return limits.get(locationId) ?? always(present.get(locationId)?.speedLimit ?? null);
}

/** Records the type of a sensor that is being deleted, which the figures of its former locations need. */
export async function recordDeletedType(tx: Executor, id: string, type: string): Promise<void> {
  await tx.execute(sql`UPDATE sensor_places SET sensor_type = ${type} WHERE sensor_id = ${id}::uuid`);
}

/**
 * Ends the assignments of a sensor that is being deleted to measuring points; what it counted stays. Those that would begin
 * later are removed.
 */
export async function endAssignments(tx: Executor, sensorId: string): Promise<void> {
  await tx.execute(sql`
    DELETE FROM detector_assignments WHERE sensor_id = ${sensorId}::uuid AND valid_from >= now()`);
  await tx.execute(sql`
    UPDATE detector_assignments SET valid_until = greatest(now(), valid_from + interval '1 millisecond'), updated_at = now()
    WHERE sensor_id = ${sensorId}::uuid AND (valid_until IS NULL OR valid_until > now())`);
}

/** A time in the past (Unix milliseconds); `until` is null if it lasts. */
export interface Past {
  readonly from: number;
  readonly until: number | null;
}

/** Records that a sensor was at another location than is known. @param present its location now */
export function correctMove(
  tx: Executor,
  sensorId: string,
  present: string | null,
  to: string | null,
  past: Past,
): Promise<void> {
  return sensorPlaces.correct(tx, sensorId, present, to, past);
}

/** The past values of a property of objects, such as sensors: a table with the id of the object, `since` and the value. */
export interface HistoryTable<Value> {
  /**
   * Records a change of the value, in the transaction that makes it. The first recorded value of an id is assumed to
   * be the one it always had.
   * @param at when it changed (Unix milliseconds); now by default, and never before the previous change
   */
  record(tx: Executor, id: string, from: Value | null, to: Value | null, at?: number): Promise<void>;
  /**
   * Records another value for the past than is known.
   * @param present the value now
   */
  correct(tx: Executor, id: string, present: Value | null, to: Value | null, past: Past): Promise<void>;
  /** The values of those ids that have a history, oldest first. */
  read(db: Executor, ids: readonly string[]): Promise<ReadonlyMap<string, History<Value | null>>>;
}

/** @param names the table, its columns for the id and the value, and the type of the value */
function historyTable<Value extends string | number>(names: {
  readonly table: string;
  readonly id: string;
  readonly value: string;
  readonly type: 'uuid' | 'double precision';
}): HistoryTable<Value> {
  const table = sql.identifier(names.table);
  const idColumn = sql.identifier(names.id);
  const valueColumn = sql.identifier(names.value);
  const typed = (value: Value | null): SQL => sql`${value}::${sql.raw(names.type)}`;

  return {
    async record(tx, id, from, to, at) {
      if (from === to) return;
      const { rows } = await tx.execute(sql`SELECT FROM ${table} WHERE ${idColumn} = ${id}::uuid LIMIT 1`);
      if (rows.length === 0 && from === null) return;
      await tx.execute(sql`
        INSERT INTO ${table} (${idColumn}, since, ${valueColumn})
        SELECT ${id}::uuid, '-infinity', ${typed(from)}
        ON CONFLICT DO NOTHING`);
      await tx.execute(sql`
        INSERT INTO ${table} (${idColumn}, since, ${valueColumn})
        SELECT ${id}::uuid, greatest(${at === undefined ? sql`clock_timestamp()` : moment(at)}, max(since)), ${typed(to)}
        FROM ${table} WHERE ${idColumn} = ${id}::uuid
        ON CONFLICT (${idColumn}, since) DO UPDATE SET ${valueColumn} = excluded.${valueColumn}`);
    },

    async correct(tx, id, present, to, { from, until }) {
      const ofId = sql`${idColumn} = ${id}::uuid`;
      await tx.execute(sql`
        INSERT INTO ${table} (${idColumn}, since, ${valueColumn})
        SELECT ${id}::uuid, '-infinity', ${typed(present)}
        ON CONFLICT DO NOTHING`);
      if (until !== null)
        await tx.execute(sql`
          INSERT INTO ${table} (${idColumn}, since, ${valueColumn}, entered_at)
          SELECT ${idColumn}, ${moment(until)}, ${valueColumn}, CASE WHEN entered_at > ${moment(until)} THEN entered_at END
          FROM ${table} WHERE ${ofId} AND since <= ${moment(until)} ORDER BY since DESC LIMIT 1
          ON CONFLICT DO NOTHING`);
      await tx.execute(sql`
        DELETE FROM ${table}
        WHERE ${ofId} AND since >= ${moment(from)} ${until === null ? sql`` : sql`AND since < ${moment(until)}`}`);
      await tx.execute(sql`
        INSERT INTO ${table} (${idColumn}, since, ${valueColumn}, entered_at)
        VALUES (${id}::uuid, ${moment(from)}, ${typed(to)}, ${until === null ? sql`clock_timestamp()` : moment(until)})`);
    },

    async read(db, ids) {
      const { rows } = await db.execute<{ id: string; since_ms: number | null; value: Value | null }>(sql`
        SELECT ${idColumn} AS id, extract(epoch FROM nullif(since, '-infinity'))::float8 * 1000 AS since_ms,
          ${valueColumn} AS value
        FROM ${table} WHERE ${idColumn} = ANY (${sql.param(ids)}::uuid[]) ORDER BY ${idColumn}, since`);
      const histories = new Map<string, { since: number; value: Value | null }[]>();
      for (const { id, since_ms, value } of rows) {
        const history = histories.get(id) ?? [];
        histories.set(id, history);
        history.push({ since: since_ms ?? Number.NEGATIVE_INFINITY, value });
      }
      return histories;
    },
  };
}
