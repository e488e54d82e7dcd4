import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import {
  nextStatus,
  type SensorSignal,
  type SensorStatus,
  type SignsOfLife,
  type StatusChange,
} from '@gantry/contract/sensors';
import { sensorStatuses } from '@gantry/contract/values';
import { asc, count, desc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { locks } from '../platform/database/locks.ts';
import { moment } from '../platform/database/moment.ts';
import { sensorStatusHistory as history, sensors } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { found } from '../platform/error.ts';
import type { Interval } from '../platform/time.ts';
import { acceptsKey } from './keys-store.ts';
import { ALIVE_AFTER } from './last-seen-store.ts';

/** A change of status by a user. */
export interface ChangeByHand {
  readonly sensorId: string;
  readonly from: SensorStatus | null;
  readonly to: SensorStatus;
  readonly reason: string;
  readonly userId: string;
  /** The result of `timeOfChange`. */
  readonly at: Date;
}

/** Records a change of status, in the transaction that makes it. */
export async function recordStatusChange(db: Executor, change: ChangeByHand): Promise<void> {
  const { sensorId, from: fromStatus, to: toStatus, reason, userId: changedBy, at } = change;
  await db.insert(history).values({ sensorId, fromStatus, toStatus, reason, changedBy, at });
}

/**
 * The time of a change of status: after the row was locked, and not before the previous change. now() is the start of
 * the transaction, which may be earlier than other changes made while it waited for the row.
 */
const CHANGED_AT = sql.raw('greatest(clock_timestamp()::timestamptz(3), status_since)');

/** The time for a change of the status of a sensor whose row the transaction has locked. */
export async function timeOfChange(tx: Executor, sensorId: string): Promise<Date> {
  const { rows } = await tx.execute<{ at: string }>(
    sql`SELECT ${CHANGED_AT} AS at FROM sensors WHERE id = ${sensorId}::uuid`,
  );
  if (!rows[0]) throw new Error('A sensor whose row is locked was not found');
  return new Date(rows[0].at);
}

/** The number of sensors of each status, 0 included. */
export async function countSensorsByStatus(db: Executor): Promise<ReadonlyMap<SensorStatus, number>> {
  const { rows } = await db.execute<{ status: SensorStatus; n: number }>(
    sql`SELECT status, count(*) AS n FROM sensors GROUP BY status`,
  );
  const found = new Map(rows.map(({ status, n }) => [status, n]));
  return new Map(sensorStatuses.map((status) => [status, found.get(status) ?? 0]));
}

/** The changes of a sensor's status, newest first. */
export async function listStatusChanges(
  db: Executor,
  sensorId: string,
  { skip, take }: { skip: number; take: number },
): Promise<Page<StatusChange>> {
  const ofSensor = eq(history.sensorId, sensorId);
  const rows = await db
    .select({
      from: history.fromStatus,
      to: history.toStatus,
      at: history.at,
      reason: history.reason,
      changedBy: history.changedBy,
    })
    .from(history)
    .where(ofSensor)
    .orderBy(desc(history.id))
    .limit(take)
    .offset(skip);
  const [counted] = await db.select({ total: count() }).from(history).where(ofSensor);
  const nameOf = await findNames(
    db,
    rows.map(({ changedBy }) => changedBy),
  );
  const items = rows.map((change) => ({ ...change, changedBy: nameOf(change.changedBy) }));
  return { items, total: counted?.total ?? 0 };
}

/** What a sensor reports about itself; `null` keeps the known value. */
export interface SelfReport {
  readonly sensorId: string;
  /**
   * The key that it used: a heartbeat is discarded if the key was replaced meanwhile. Null for one that arrived through
   * a gateway.
   */
  readonly apiKey: string | null;
  readonly signal: Extract<SensorSignal, 'heartbeat' | 'criticalIssue'>;
  readonly reason: string;
  readonly firmware: string | null;
  readonly ipAddress: string | null;
  readonly macAddress: string | null;
}

/** The status of a sensor before and after a heartbeat, an event, or the lack of both. */
export interface StatusOutcome {
  readonly sensorId: string;
  readonly sensorName: string;
  readonly from: SensorStatus;
  readonly to: SensorStatus;
  readonly at: Date;
}

/** A row for a sensor whose status may have changed. */
interface OutcomeRow extends Record<string, unknown> {
  id: string;
  name: string;
  old_status: SensorStatus;
  status: SensorStatus;
  server_time: string;
}

const OUTCOME = sql.raw('id, name, old_status, status, at AS server_time');

/**
 * Records a heartbeat that leaves the status unchanged, as nearly all do. Null, without any effect, when it would
 * change the status, or when no sensor has the id and the key (any more).
 */
export function recordSteadyHeartbeat(db: Executor, report: SelfReport): Promise<StatusOutcome | null> {
  return takeReport(db, report, sql`before.status = before.next_status`);
}

/** Records a heartbeat; null when no sensor has the id and the key (any more). */
export function recordHeartbeat(db: Executor, report: SelfReport): Promise<StatusOutcome | null> {
  return takeReport(db, report, sql`true`);
}

/** The reason recorded for a sensor that is OFFLINE because of its silence. */
export function silenceReason(timeoutSeconds: number, requiresHeartbeats: boolean): string {
  const what = requiresHeartbeats ? 'no heartbeat' : 'no heartbeat or event';
  return `${what} for ${timeoutSeconds} ${timeoutSeconds === 1 ? 'second' : 'seconds'}`;
}

/** The reason recorded for a sensor whose status an event has changed. */
export const EVENT_REASON = 'event';

/** An allowance for times of events that are not stored yet: they are written every two seconds. */
const EVENTS_WRITTEN = sql.raw("interval '5 seconds'");

/** A clock that was adjusted by less than this does not count as set back. */
const SET_BACK = sql.raw("interval '5 seconds'");

/** Claims the search for silent sensors until the transaction ends. @returns false if another process has it */
export async function takeTurn(tx: Executor): Promise<boolean> {
  const { rows } = await tx.execute<{ mine: boolean }>(
    sql`SELECT pg_try_advisory_xact_lock(${locks.sweep}) AS mine`,
  );
  return rows[0]?.mine === true;
}

/**
 * Records a search for silent sensors, and the downtime since the last one if there was any. The caller has claimed the
 * search. Where the clock of the database was set back since the last search, times in the future become the present.
 * @param gapSeconds a longer time since the last search counts as downtime
 * @returns whether the service has received messages for a whole time-out, so that missing messages mean that the
 * sensor is silent
 */
export async function recordSearch(
  tx: Executor,
  timeoutSeconds: number,
  gapSeconds: number,
): Promise<boolean> {
  const isLongAgo = sql`watch.looked_at < now() - make_interval(secs => ${gapSeconds})`;
  const { rows } = await tx.execute<{ is_long: boolean }>(sql`
    WITH missed AS (
      INSERT INTO sensor_watch_gaps (since, until)
      SELECT looked_at, now() FROM sensor_watch AS watch WHERE ${isLongAgo} ON CONFLICT (since) DO NOTHING
    ), never_missed AS (
      DELETE FROM sensor_watch_gaps WHERE until > now()
    ), too_late AS (
      UPDATE sensors SET last_heartbeat = least(last_heartbeat, now()), last_event_at = least(last_event_at, now()),
        last_communication = least(last_communication, now()), status_since = least(status_since, now())
      WHERE EXISTS (SELECT FROM sensor_watch WHERE looked_at > now() + ${SET_BACK})
        AND greatest(last_heartbeat, last_event_at, last_communication, status_since) > now()
    )
    INSERT INTO sensor_watch AS watch (watched_since, looked_at) VALUES (now(), now())
    ON CONFLICT (only_row) DO UPDATE SET looked_at = now(),
      watched_since = CASE WHEN ${isLongAgo} THEN now() ELSE least(watch.watched_since, now()) END
    RETURNING watched_since <= now() - make_interval(secs => ${timeoutSeconds}) AS is_long`);
  return rows[0]?.is_long === true;
}

/**
 * Removes the status history, the locations, the assignments and the faults of sensors that were deleted before a time (Unix milliseconds), unless a
 * case about one of them is open. The last entry in the history of a deleted sensor is its deletion.
 */
export async function forgetSensorsDeletedBefore(db: Executor, time: number): Promise<void> {
  // Plan: sensor_status_history as a whole. There is a row for each change of a status.
  await db.execute(sql`
    WITH gone AS MATERIALIZED (
      SELECT sensor_id FROM sensor_status_history
      WHERE NOT EXISTS (SELECT FROM sensors WHERE sensors.id = sensor_id)
        AND sensor_id NOT IN (SELECT sensor_id FROM cases WHERE sensor_id IS NOT NULL AND closed_at IS NULL)
      GROUP BY sensor_id HAVING max(at) < ${moment(time)}
    ), places AS (
      DELETE FROM sensor_places WHERE sensor_id IN (SELECT sensor_id FROM gone)
    ), assigned AS (
      DELETE FROM detector_assignments WHERE sensor_id IN (SELECT sensor_id FROM gone)
    ), broken AS (
      DELETE FROM faults WHERE sensor_id IN (SELECT sensor_id FROM gone)
    )
    DELETE FROM sensor_status_history WHERE sensor_id IN (SELECT sensor_id FROM gone)`);
}

/** The downtimes that overlap a range, in order. */
export async function listDowntimes(db: Executor, range: Interval): Promise<Interval[]> {
  const { rows } = await db.execute<{ since: string; until: string }>(sql`
    SELECT since, until FROM sensor_watch_gaps
    WHERE since < ${moment(range.until)} AND until > ${moment(range.from)} ORDER BY since`);
  return rows.map(({ since, until }) => ({
    from: new Date(since).getTime(),
    until: new Date(until).getTime(),
  }));
}

/** The data on which the status of a sensor is based. @throws AppError `notFound` */
export async function getSignsOfLife(db: Executor, id: string): Promise<Omit<SignsOfLife, 'timeoutSeconds'>> {
  const { status, requiresHeartbeats, lastHeartbeat, lastEventAt } = sensors;
  return found(
    isUuid(id)
      ? await db
          .select({ sensorId: sensors.id, status, requiresHeartbeats, lastHeartbeat, lastEventAt })
          .from(sensors)
          .where(eq(sensors.id, id))
      : [],
    'Sensor',
  );
}

/**
 * The end of a statement that changes the status of sensors: those of `locked` (id, status, status_since) whose
 * `next_status` is another one.
 */
function changeLocked(reason: SQL): SQL {
  return sql`, changing AS MATERIALIZED (
      SELECT *, ${CHANGED_AT} AS at FROM locked WHERE status <> next_status
    ), after AS (
      UPDATE sensors SET status = changing.next_status, status_since = changing.at, updated_at = now()
      FROM changing WHERE sensors.id = changing.id
      RETURNING sensors.id, sensors.name, changing.status AS old_status, sensors.status, changing.at
    ), recorded AS (
      INSERT INTO sensor_status_history (sensor_id, from_status, to_status, at, reason)
      SELECT id, old_status, status, at, ${reason} FROM after
    )
    SELECT ${OUTCOME} FROM after`;
}

/**
 * Changes the status of sensors from which an event has arrived, unless it was changed meanwhile.
 * @returns those that changed
 */
export async function recordEventsOf(tx: Executor, ids: readonly string[]): Promise<StatusOutcome[]> {
  const { rows } = await tx.execute<OutcomeRow>(sql`
    WITH locked AS MATERIALIZED (
      SELECT id, status, status_since, ${JSON.stringify(nextStatus.event)}::jsonb ->> status AS next_status
      FROM sensors
      WHERE id = ANY (${sql.param([...ids])}::uuid[]) AND NOT requires_heartbeats
        AND last_event_at > ${sql.raw(ALIVE_AFTER)}
      ORDER BY id FOR NO KEY UPDATE
    ) ${changeLocked(sql`${EVENT_REASON}::text`)}`);
  return rows.map(toOutcome);
}

/** A sensor whose status is to be set, if it has had its present one since the given time. */
export interface StatusToSet {
  readonly sensorId: string;
  readonly since: Date;
  readonly to: SensorStatus;
}

/** Locks sensors until the transaction ends. @returns those that exist, with their status and since when they have had it */
export async function lockStatuses(
  tx: Executor,
  ids: readonly string[],
): Promise<{ sensorId: string; status: SensorStatus; since: Date }[]> {
  return tx
    .select({ sensorId: sensors.id, status: sensors.status, since: sensors.statusSince })
    .from(sensors)
    .where(inArray(sensors.id, [...ids]))
    .orderBy(asc(sensors.id))
    .for('no key update');
}

/** Sets the status of sensors by the service itself. @returns those that changed */
export async function setStatuses(
  tx: Executor,
  wanted: readonly StatusToSet[],
  reason: string,
): Promise<StatusOutcome[]> {
  const { rows } = await tx.execute<OutcomeRow>(sql`
    WITH locked AS MATERIALIZED (
      SELECT sensors.id, status, status_since, given."to" AS next_status
      FROM jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) AS given ("sensorId" uuid, since timestamptz, "to" text)
        JOIN sensors ON sensors.id = given."sensorId" AND sensors.status_since = given.since
      WHERE status <> given."to"
      ORDER BY sensors.id FOR NO KEY UPDATE OF sensors
    ) ${changeLocked(sql`${reason}::text`)}`);
  return rows.map(toOutcome);
}

/** A sensor that has gone silent. */
export interface SilenceOutcome extends StatusOutcome {
  readonly reason: string;
}

/** Whether a sensor is ONLINE and has been silent for the given time. */
export async function isAnySilent(tx: Executor, seconds: number): Promise<boolean> {
  const { rows } = await tx.execute<{ found: boolean }>(
    sql`SELECT EXISTS (SELECT FROM sensors WHERE ${isSilent(seconds)}) AS found`,
  );
  return rows[0]?.found === true;
}

function isSilent(seconds: number): SQL {
  const silentFor = sql`make_interval(secs => ${seconds})`;
  return sql`sensors.status = 'ONLINE' AND greatest(sensors.last_heartbeat, sensors.status_since) < now() - ${silentFor}
    AND (sensors.requires_heartbeats OR sensors.last_event_at IS NULL
      OR sensors.last_event_at < now() - ${silentFor} - ${EVENTS_WRITTEN})`;
}

/**
 * Changes the status of every sensor that is ONLINE and has been silent for the time-out: with neither a heartbeat nor
 * an event or, if it is required to send heartbeats, without a heartbeat. The caller has claimed the search.
 * @returns those that changed
 */
export async function silenceSensors(tx: Executor, timeoutSeconds: number): Promise<SilenceOutcome[]> {
  const reason = sql`CASE WHEN requires_heartbeats THEN ${silenceReason(timeoutSeconds, true)}::text
    ELSE ${silenceReason(timeoutSeconds, false)}::text END`;
  // A sensor that is being changed either is not silent or is handled in the next round.
  const { rows } = await tx.execute<OutcomeRow & { reason: string }>(sql`
    WITH locked AS MATERIALIZED (
      SELECT sensors.id, sensors.status, sensors.status_since FROM sensors
      WHERE ${isSilent(timeoutSeconds)}
      ORDER BY sensors.id FOR NO KEY UPDATE OF sensors SKIP LOCKED
    ), silent AS MATERIALIZED (
      SELECT *, ${CHANGED_AT} AS at FROM locked
    ), after AS (
      UPDATE sensors SET status = ${JSON.stringify(nextStatus.silence)}::jsonb ->> silent.status,
        status_since = silent.at, updated_at = now()
      FROM silent WHERE sensors.id = silent.id
      RETURNING sensors.id, sensors.name, silent.status AS old_status, sensors.status, silent.at, ${reason} AS reason
    ), recorded AS (
      INSERT INTO sensor_status_history (sensor_id, from_status, to_status, at, reason)
      SELECT id, old_status, status, at, reason FROM after
    )
    SELECT ${OUTCOME}, reason FROM after`);
  return rows.map((row) => ({ ...toOutcome(row), reason: row.reason }));
}

/**
 * An expression for a sensor's first contact: a heartbeat or an event, by the time when it arrived; null for none. Before
 * that it may not be mounted, and does not count as silent. Events of a sensor that requires heartbeats are not in its
 * status history: it counts from its first vehicle, unless all are from before it was registered.
 * @param sensorId the column with the sensor's id
 */
export function firstContact(sensorId: SQL): SQL {
  return sql`least(
  (SELECT min(at) FROM sensor_status_history
    WHERE sensor_status_history.sensor_id = ${sensorId} AND to_status IN ('ONLINE', 'ERROR')),
  (SELECT min(first_slot) FROM traffic_places JOIN sensors AS registered ON registered.id = traffic_places.sensor_id
    WHERE traffic_places.sensor_id = ${sensorId} AND registered.requires_heartbeats
      AND last_slot >= registered.created_at))`;
}

function toOutcome(row: OutcomeRow): StatusOutcome {
  return {
    sensorId: row.id,
    sensorName: row.name,
    from: row.old_status,
    to: row.status,
    at: new Date(row.server_time),
  };
}

async function takeReport(db: Executor, report: SelfReport, only: SQL): Promise<StatusOutcome | null> {
  const { sensorId, apiKey, signal, reason, firmware, ipAddress, macAddress } = report;
  // The row is locked before its status is read, so that concurrent changes apply one after another.
  const { rows } = await db.execute<OutcomeRow>(sql`
    WITH locked AS MATERIALIZED (
      SELECT id, status, status_since, ${JSON.stringify(nextStatus[signal])}::jsonb ->> status AS next_status,
        coalesce(${firmware}, firmware) AS firmware, coalesce(${ipAddress}, ip_address) AS ip_address,
        coalesce(${macAddress}, mac_address) AS mac_address, ${apiKey === null ? sql`NULL::boolean` : sql`api_key <> ${apiKey}`} AS by_previous_key
      FROM sensors WHERE id = ${sensorId} AND ${apiKey === null ? sql`true` : acceptsKey(apiKey)}
      FOR NO KEY UPDATE
    ), before AS MATERIALIZED (
      SELECT *, ${CHANGED_AT} AS at FROM locked
    ), after AS (
      UPDATE sensors SET
        status = before.next_status,
        status_since = CASE WHEN before.status = before.next_status THEN sensors.status_since ELSE before.at END,
        last_heartbeat = before.at,
        last_communication = before.at,
        key_used_at = CASE WHEN before.by_previous_key = false THEN before.at ELSE sensors.key_used_at END,
        previous_key_used_at =
          CASE WHEN before.by_previous_key THEN before.at ELSE sensors.previous_key_used_at END,
        firmware = before.firmware,
        ip_address = before.ip_address,
        mac_address = before.mac_address,
        updated_at = CASE
          WHEN (sensors.status, sensors.firmware, sensors.ip_address, sensors.mac_address)
            IS NOT DISTINCT FROM (before.next_status, before.firmware, before.ip_address, before.mac_address)
          THEN sensors.updated_at ELSE now() END
      FROM before WHERE sensors.id = before.id AND ${only}
      RETURNING sensors.id, sensors.name, before.status AS old_status, sensors.status, before.at
    ), recorded AS (
      INSERT INTO sensor_status_history (sensor_id, from_status, to_status, at, reason)
      SELECT id, old_status, status, at, ${reason}::text FROM after WHERE old_status <> status
    )
    SELECT ${OUTCOME} FROM after`);
  const [row] = rows;
  return row ? toOutcome(row) : null;
}
