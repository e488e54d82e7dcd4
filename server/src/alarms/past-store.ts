import type { AlarmCondition, AlarmScope, ConditionOf } from '@gantry/contract/alarm-rules';
import { CRITICAL_ISSUE } from '@gantry/contract/values';
import { type SQL, sql } from 'drizzle-orm';
import { rankOf } from '../events/severity.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { isNamed } from './rules-store.ts';
import { IS_RELEASED, rateCondition } from './sources-store.ts';

// What is recorded of the past, by which rules are tried.

/** A time in which something was so. Unix milliseconds. */
export interface Span {
  readonly key: string;
  readonly from: number;
  /** Infinity while it is. */
  readonly until: number;
}

interface SpanRow extends Record<string, unknown> {
  readonly key: string;
  readonly from: number;
  readonly until: number | null;
}

function spansOf(rows: readonly SpanRow[]): Span[] {
  return rows.map(({ key, from, until }) => ({ key, from, until: until ?? Number.POSITIVE_INFINITY }));
}

function at(column: SQL): SQL {
  return sql`(extract(epoch FROM ${column}) * 1000)::float8`;
}

/** When sensors had one of the statuses, or reported an issue; the key is the id of the sensor. */
export async function readStatusSpans(
  db: Executor,
  sensorIds: readonly string[],
  condition: Extract<AlarmCondition, { source: 'SENSOR_STATUS' | 'SENSOR_ISSUE' }>,
  { from, until }: Interval,
): Promise<Span[]> {
  const isWanted =
    condition.source === 'SENSOR_STATUS'
      ? sql`to_status = ANY (${sql.param(condition.statuses)}::text[])`
      : sql`to_status = 'ERROR' AND starts_with(reason, ${CRITICAL_ISSUE})
          AND strpos(lower(reason), lower(${condition.code ?? ''}::text)) > 0`;
  // Plan: sensor_status_history_of_sensor. Each sensor's status at the start, and its changes since.
  const { rows } = await db.execute<SpanRow>(sql`
    SELECT key, "from", until FROM (
      SELECT sensor_id AS key, ${isWanted} AS is_wanted, ${at(sql`at`)} AS "from",
        ${at(sql`lead(at) OVER (PARTITION BY sensor_id ORDER BY id)`)} AS until
      FROM sensor_status_history WHERE sensor_id = ANY (${sql.param(sensorIds)}::uuid[]) AND at < ${moment(until)}
    ) AS spans WHERE is_wanted AND coalesce(until, 'Infinity') > ${from}`);
  return spansOf(rows);
}

/** A condition for what happened at one of the locations and one of the sensors that a scope names, if it names any. */
function isWithin(scope: AlarmScope, locationId: SQL, sensorId: SQL): SQL {
  return sql`${isNamed(locationId, scope.locationIds)} AND ${isNamed(sensorId, scope.sensorIds)}`;
}

/** When incidents were not attended, other than those of planned works; the key is the id of the incident. */
export async function readIncidentSpans(
  db: Executor,
  { minSeverity, types, lacking }: ConditionOf<'INCIDENT_UNATTENDED'>,
  scope: AlarmScope,
  { from, until }: Interval,
): Promise<Span[]> {
  const over = sql`coalesce(resolved_at, closed_at)`;
  const assigned = sql`(SELECT min(at) FROM incident_timeline
    WHERE incident_id = incidents.id AND (action = 'assign' OR action = 'create' AND details ? 'assignedTo'))`;
  const end = lacking === 'OWNER' ? assigned : sql`acknowledged_at`;
  const { rows } = await db.execute<SpanRow>(sql`
    SELECT id AS key, ${at(sql`opened_at`)} AS "from", ${at(sql`least(${end}, ${over})`)} AS until
    FROM incidents WHERE opened_at >= ${moment(from)} AND opened_at < ${moment(until)} AND NOT backlog
      AND NOT EXISTS (SELECT FROM works_windows WHERE incident_id = incidents.id)
      AND ${isWithin(scope, sql`location_id`, sql`sensor_id`)}
      AND severity >= ${rankOf(minSeverity)} AND ${types.length === 0 ? sql`true` : sql`type = ANY (${sql.param(types)}::text[])`}
    ORDER BY opened_at LIMIT 5000`);
  return spansOf(rows);
}

/** When hits waited for their acknowledgement; the key is the id of the alert. */
export async function readHitSpans(
  db: Executor,
  { minPriority, listId }: ConditionOf<'HIT'>,
  scope: AlarmScope,
  { from, until }: Interval,
): Promise<Span[]> {
  const { rows } = await db.execute<SpanRow>(sql`
    SELECT alert.id AS key, ${at(sql`seen_at`)} AS "from", ${at(sql`acknowledged_at`)} AS until
    FROM watchlist_alerts AS alert LEFT JOIN sensors ON sensors.id = sensor_id
      CROSS JOIN LATERAL (SELECT coalesce(released_at, alert.created_at) AS seen_at) AS seen
    WHERE seen_at >= ${moment(from)} AND seen_at < ${moment(until)} AND NOT backlog AND ${IS_RELEASED}
      AND ${isWithin(scope, sql`sensors.location_id`, sql`sensor_id`)}
      AND priority >= ${rankOf(minPriority)} AND ${listId === null ? sql`true` : sql`hotlist_id::text = ${listId.toLowerCase()}`}
    ORDER BY seen_at LIMIT 5000`);
  return spansOf(rows);
}

/** Maximum number of events by which a rule is tried. */
export const MAX_TRIED_EVENTS = 200_000;

/** The times (Unix milliseconds) of the events that a rule counts, in order; null if there are too many. */
export async function readRateTimes(
  db: Executor,
  condition: ConditionOf<'EVENT_RATE'>,
  range: Interval,
): Promise<readonly number[] | null> {
  const { rows } = await db.execute<{ times: string | null; n: number }>(sql`
    SELECT count(*)::int AS n, array_agg(at ORDER BY at)::text AS times FROM (
      SELECT (extract(epoch FROM event_time(id)) * 1000)::bigint AS at FROM events
      WHERE ${rateCondition(condition, range)} LIMIT ${MAX_TRIED_EVENTS + 1}
    ) AS found`);
  const [row] = rows;
  if ((row?.n ?? 0) > MAX_TRIED_EVENTS) return null;
  return row?.times ? (JSON.parse(row.times.replace('{', '[').replace('}', ']')) as number[]) : [];
}

/** The end of complete backups, as a step function: when each backup was the last one. The key is ''. */
export async function readBackupEnds(db: Executor, until: number): Promise<readonly number[]> {
  const { rows } = await db.execute<{ at: number }>(sql`
    SELECT ${at(sql`finished_at`)} AS at FROM backups
    WHERE status = 'COMPLETED' AND finished_at < ${moment(until)} ORDER BY finished_at`);
  return rows.map((row) => row.at);
}
