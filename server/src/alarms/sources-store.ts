import type { ConditionOf } from '@gantry/contract/alarm-rules';
import { MINUTE_MS } from '@gantry/contract/durations';
import type { IncidentType } from '@gantry/contract/incidents';
import { permissions } from '@gantry/contract/permissions';
import type { SensorStatus, SensorType } from '@gantry/contract/sensors';
import { CRITICAL_ISSUE } from '@gantry/contract/values';
import { type SQL, sql } from 'drizzle-orm';
import { firstIdAt } from '../events/id.ts';
import { rankOf } from '../events/severity.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';

// What the sources of alarms read besides traffic: one statement for each source, whatever the number of rules.

/** A sensor as alarms see it. */
export interface SensorFact extends Record<string, unknown> {
  readonly id: string;
  readonly name: string;
  readonly type: SensorType;
  readonly status: SensorStatus;
  readonly locationId: string | null;
  readonly locationName: string | null;
  /** km/h */
  readonly speedLimit: number | null;
  /** What a sensor in ERROR reported; null for others. */
  readonly issue: string | null;
  /** How far its clock is behind, in milliseconds; null if it is right or not known. */
  readonly clockOffMs: number | null;
  /** Whether it counts by intervals, so that its minutes are not known. */
  readonly isPeriodic: boolean;
}

/** All sensors. */
export async function readSensorFacts(db: Executor): Promise<SensorFact[]> {
  const { rows } = await db.execute<SensorFact>(sql`
    SELECT sensors.id, sensors.name, type, status, location_id AS "locationId", locations.name AS "locationName",
      speed_limit AS "speedLimit",
      CASE WHEN status = 'ERROR' THEN (SELECT substr(reason, ${CRITICAL_ISSUE.length + 1}::int) FROM sensor_status_history
        WHERE sensor_id = sensors.id AND to_status = 'ERROR' AND starts_with(reason, ${CRITICAL_ISSUE})
        ORDER BY sensor_status_history.id DESC LIMIT 1) END AS issue,
      CASE WHEN state IN ('WARNING', 'ERROR') THEN offset_ms::float8 END AS "clockOffMs",
      sensors.id IN (SELECT sensor_id FROM traffic_places WHERE periods) AS "isPeriodic"
    FROM sensors LEFT JOIN locations ON locations.id = location_id LEFT JOIN sensor_clocks ON sensor_id = sensors.id`);
  return rows;
}

/** Maximum number of incidents and hits that are read: more are a reason to act anyway. */
const MAX_READ = 5_000;

export interface IncidentFact extends Record<string, unknown> {
  readonly id: string;
  readonly title: string;
  readonly type: IncidentType;
  /** From 1 LOW to 4 CRITICAL. */
  readonly severity: number;
  readonly isOpen: boolean;
  /** Whether an active user who may manage incidents is assigned, or it is only that of planned works in force, to which nobody has to attend. */
  readonly hasOwner: boolean;
  readonly sensorId: string | null;
  readonly locationId: string | null;
  readonly place: string | null;
}

/** The incidents that are not resolved, except for those that a backlog opened. */
export async function readIncidents(db: Executor): Promise<IncidentFact[]> {
  // Plan: incidents_by_status, users_pkey, works_windows_by_incident and incident_work_by_merged.
  const { rows } = await db.execute<IncidentFact>(sql`
    SELECT incidents.id, title, type, severity, status = 'OPEN' AS "isOpen",
      (EXISTS (SELECT FROM users WHERE users.id = assigned_to AND is_active
          AND role = ANY (${sql.param([...permissions.manageIncidents])}::text[]))
        OR EXISTS (SELECT FROM works_windows WHERE incident_id = incidents.id AND state = 'ACTIVE')
          AND NOT EXISTS (SELECT FROM incident_work WHERE merged_into = incidents.id)) AS "hasOwner",
      sensor_id AS "sensorId", location_id AS "locationId", name AS place
    FROM incidents LEFT JOIN locations ON locations.id = location_id
    WHERE status IN ('OPEN', 'ACKNOWLEDGED', 'IN_PROGRESS') AND NOT backlog
    ORDER BY severity DESC, opened_at LIMIT ${MAX_READ}`);
  return rows;
}

export interface HitFact extends Record<string, unknown> {
  readonly id: string;
  readonly priority: number;
  readonly reason: string;
  readonly plate: string;
  readonly place: string | null;
  readonly sensorId: string | null;
  readonly locationId: string | null;
  /** Null for one of the watchlist. */
  readonly listId: string | null;
  /** When others than verifiers could see it: its release, or of the watchlist the read; Unix milliseconds. */
  readonly at: number;
}

/** How long a hit that nobody acknowledges stays an alarm. */
const HIT_MS = 86_400_000;

/** The condition for hits of which people may be told: never one that is not released, was rejected, was found by looking back, or is of a covert list. */
export const IS_RELEASED =
  sql.raw(`(hotlist_id IS NULL OR (released_at IS NOT NULL AND state NOT IN ('REJECTED', 'EXPIRED')
  AND kind IS DISTINCT FROM 'LOOK_BACK' AND hotlist_id NOT IN (SELECT id FROM hotlists WHERE covert)))`);

/** The hits that were released within a day that nobody acknowledged. Further reads of the vehicle belong to the first. */
export async function readHits(db: Executor, now: number): Promise<HitFact[]> {
  // Plan: watchlist_alerts_open.
  const { rows } = await db.execute<HitFact>(sql`
    SELECT alert.id, priority, alert.reason, plate, coalesce(location_name, sensor_name) AS place, sensor_id AS "sensorId",
      sensors.location_id AS "locationId", hotlist_id AS "listId",
      (extract(epoch FROM coalesce(released_at, read_at)) * 1000)::float8 AS at
    FROM watchlist_alerts AS alert LEFT JOIN sensors ON sensors.id = sensor_id
    WHERE acknowledged_at IS NULL AND NOT backlog AND ${IS_RELEASED} AND coalesce(released_at, alert.created_at) > ${moment(now - HIT_MS)}
    ORDER BY coalesce(released_at, alert.created_at) DESC LIMIT ${MAX_READ}`);
  return rows;
}

/** What is counted for a rule of EVENT_RATE. */
export interface WantedRate {
  readonly ruleId: string;
  readonly condition: ConditionOf<'EVENT_RATE'>;
  /** A larger number is not counted. */
  readonly most: number;
}

/** The number of events within the windows of rules, by the ids of the rules. */
export async function countRates(
  db: Executor,
  wanted: readonly WantedRate[],
  now: number,
): Promise<ReadonlyMap<string, number>> {
  if (wanted.length === 0) return new Map();
  const counts = wanted.map(
    ({ ruleId, condition, most }) => sql`
      SELECT ${ruleId}::text AS id, (SELECT count(*) FROM (
        SELECT FROM events
        WHERE ${rateCondition(condition, { from: now - condition.minutes * MINUTE_MS, until: now })} LIMIT ${most}
      ) AS found)::int AS n`,
  );
  const { rows } = await db.execute<{ id: string; n: number }>(sql.join(counts, sql` UNION ALL `));
  return new Map(rows.map(({ id, n }) => [id, n]));
}

/** The condition for the events of a range that a rule counts. */
export function rateCondition({ filter }: ConditionOf<'EVENT_RATE'>, { from, until }: Interval): SQL {
  const { eventType, violationType, sensorId, minSeverity } = filter;
  const conditions = [
    sql`id >= ${firstIdAt(from)}::uuid AND id < ${firstIdAt(until)}::uuid`,
    ...(eventType === undefined ? [] : [sql`event_type = ${eventType}`]),
    ...(violationType === undefined ? [] : [sql`lower(violation_type) = lower(${violationType})`]),
    ...(sensorId === undefined ? [] : [sql`sensor_id::text = ${sensorId.toLowerCase()}`]),
    ...(minSeverity === undefined ? [] : [sql`severity >= ${rankOf(minSeverity)}`]),
  ];
  return sql.join(conditions, sql` AND `);
}

export interface ConnectionFact extends Record<string, unknown> {
  readonly id: string;
  readonly sensorId: string;
  readonly sensorName: string | null;
  readonly locationId: string | null;
  /** Messages that were refused within the longest window of rules, by the minutes since then. */
  readonly refused: readonly number[];
  /** Minutes since a message was missed; null if none was. */
  readonly missedMinutes: number | null;
}

/** Maximum number of refused messages that are counted for a connection. */
const MAX_REFUSED = 10_000;

/** The connections with messages that were refused or missed within so many minutes. */
export async function readConnections(db: Executor, minutes: number, now: number): Promise<ConnectionFact[]> {
  // Plan: device_messages_by_status for each connection.
  const { rows } = await db.execute<ConnectionFact>(sql`
    SELECT * FROM (
      SELECT connections.id, sensor_id AS "sensorId", name AS "sensorName", location_id AS "locationId",
        ARRAY(SELECT (extract(epoch FROM ${moment(now)} - received_at) / 60)::float8 FROM device_messages
          WHERE connection_id = connections.id AND status = 'REFUSED' AND device_messages.id >= ${firstIdAt(now - minutes * MINUTE_MS)}::uuid
          LIMIT ${MAX_REFUSED}) AS refused,
        (extract(epoch FROM ${moment(now)} - greatest(limited_at, lost_at)) / 60)::float8 AS "missedMinutes"
      FROM connections LEFT JOIN sensors ON sensors.id = sensor_id WHERE deleted_at IS NULL
    ) AS facts WHERE cardinality(refused) > 0 OR "missedMinutes" <= ${minutes}`);
  return rows;
}

/** The numbers of minutes for which events have waited for their follow-up, the longest first. */
export async function readLateFollowUps(db: Executor, now: number): Promise<number[]> {
  const { rows } = await db.execute<{ minutes: number }>(sql`
    SELECT (extract(epoch FROM ${moment(now)} - at) / 60)::float8 AS minutes FROM events_to_follow_up
    WHERE at < ${moment(now - MINUTE_MS)} ORDER BY at LIMIT ${MAX_REFUSED}`);
  return rows.map(({ minutes }) => minutes);
}

/** The hours since the last complete backup, or without one since the installation. */
export async function readBackupAge(db: Executor, now: number): Promise<number | null> {
  const { rows } = await db.execute<{ hours: number | null }>(sql`
    SELECT (extract(epoch FROM ${moment(now)} - coalesce(
      (SELECT max(finished_at) FROM backups WHERE status = 'COMPLETED' AND finished_at <= ${moment(now)}),
      (SELECT installed_at FROM settings))) / 3600)::float8 AS hours`);
  return rows[0]?.hours ?? null;
}

/** The ids of rotas that should have told somebody of an alarm that is firing and not acknowledged. */
export async function findAskedRotas(db: Executor): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT DISTINCT target ->> 'rotaId' AS id
    FROM alarm_groups AS asked JOIN policies ON policies.id = policy_id
      CROSS JOIN jsonb_array_elements(steps) WITH ORDINALITY AS taken (one, n), jsonb_array_elements(one -> 'to') AS target
    WHERE closed_at IS NULL AND n <= step AND target ? 'rotaId' AND EXISTS (
      SELECT FROM alarms WHERE group_id = asked.id AND state = 'FIRING' AND acknowledged_at IS NULL)`);
  return rows.map(({ id }) => id);
}

/** For how many minutes a hand-over has not been accepted; 0 if none waits. @param now Unix milliseconds */
export async function readHandOverAge(db: Executor, now: number): Promise<number> {
  const { rows } = await db.execute<{ since: string | null }>(
    sql`SELECT min(handed_over_at) AS since FROM shifts WHERE ended_at IS NULL`,
  );
  const since = rows[0]?.since;
  return since ? Math.max(0, Math.floor((now - Date.parse(since)) / 60_000)) : 0;
}
