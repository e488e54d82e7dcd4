import type { Alarm, AlarmDetail, AlarmStats, AlarmTarget, ListAlarmsInput } from '@gantry/contract/alarms';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { severities } from '@gantry/contract/values';
import { type SQL, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { rankOf, severityOfRank } from '../events/severity.ts';
import type { AnnouncedAlarm } from '../notices/announce.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import type { Interval } from '../platform/time.ts';
import { STORM_KEY } from './plan.ts';
import { FLAPPING_MS } from './step.ts';

// Alarms as users see them.

/** Whether an alarm is that of a hit whose list has become covert since. */
const IS_COVERT = `(alert_id IS NOT NULL AND EXISTS (
    SELECT FROM watchlist_alerts AS hit JOIN hotlists ON hotlists.id = hit.hotlist_id
    WHERE hit.id = alert_id AND hotlists.covert))`;

const COLUMNS =
  sql.raw(`alarms.id, rule_id AS "ruleId", rule_name AS "ruleName", alarms.source, alarms.severity, state, text, place,
  sensor_id AS "sensorId", location_id AS "locationId", incident_id AS "incidentId", alert_id AS "alertId",
  plate AS "licensePlateNumber", value, worst, since, fired_at AS "firedAt", cleared_at AS "clearedAt",
  cleared_because AS "clearedBecause", flaps, is_flapping AS "isFlapping", acknowledged_at AS "acknowledgedAt",
  acknowledged_by AS "acknowledgedBy", note, silenced_by AS "silencedBy", inhibited_by AS "inhibitedBy",
  inhibiting_id AS "inhibitingId", ${IS_COVERT} AS "isCovert"`);

type Cause = NonNullable<Alarm['inhibitedBy']>['cause'];

interface Row extends Record<string, unknown> {
  readonly severity: number;
  readonly acknowledgedBy: string | null;
  readonly inhibitedBy: Cause | null;
  readonly inhibitingId: string | null;
  readonly isCovert: boolean;
}

/** What is not said of the hit of a covert list. */
const WITHHELD = { place: null, sensorId: null, locationId: null, alertId: null, licensePlateNumber: null };

const TIMES = ['since', 'firedAt', 'clearedAt', 'acknowledgedAt'] as const;

async function toAlarms(db: Executor, rows: readonly Row[]): Promise<Alarm[]> {
  const nameOf = await findNames(
    db,
    rows.map(({ acknowledgedBy }) => acknowledgedBy),
  );
  return rows.map(({ inhibitedBy: cause, inhibitingId: causeId, isCovert, ...row }) => {
    const times = TIMES.map((name) => [name, row[name] === null ? null : new Date(row[name] as string)]);
    const shown = {
      ...row,
      ...(isCovert && WITHHELD),
      ...Object.fromEntries(times),
      severity: severityOfRank(row.severity),
      acknowledgedBy: nameOf(row.acknowledgedBy),
      inhibitedBy: cause && {
        cause,
        alarmId: cause === 'MAINTENANCE' ? null : causeId,
        ...(cause === 'MAINTENANCE' && { worksId: causeId }),
      },
    };
    return shown as unknown as Alarm;
  });
}

const IS_SUPPRESSED = sql.raw('(silenced_by IS NOT NULL OR inhibited_by IS NOT NULL)');

function isId(column: SQL, id: string): SQL {
  return isUuid(id) ? sql`${column} = ${id}::uuid` : sql`false`;
}

function conditionsOf(input: ListAlarmsInput, { from, until }: Interval): SQL {
  const { state, acknowledged, suppressed, severity, source, ruleId, sensorId, locationId } = input;
  const conditions = [
    state === undefined ? sql`state <> 'PENDING'` : sql`state = ${state}`,
    ...(Number.isFinite(from) ? [sql`coalesce(fired_at, since) >= ${moment(from)}`] : []),
    ...(Number.isFinite(until) ? [sql`coalesce(fired_at, since) < ${moment(until)}`] : []),
    ...(acknowledged === undefined ? [] : [sql`(acknowledged_at IS NOT NULL) = ${acknowledged}`]),
    ...(suppressed === undefined ? [] : [sql`${IS_SUPPRESSED} = ${suppressed}`]),
    ...(severity === undefined ? [] : [sql`severity = ${rankOf(severity)}`]),
    ...(source === undefined ? [] : [sql`source = ${source}`]),
    ...(ruleId === undefined ? [] : [isId(sql`rule_id`, ruleId)]),
    ...(sensorId === undefined ? [] : [isId(sql`sensor_id`, sensorId)]),
    ...(locationId === undefined ? [] : [isId(sql`location_id`, locationId)]),
  ];
  return sql.join(conditions, sql` AND `);
}

/** Alarms that fired in the interval. */
export async function listAlarms(
  db: Executor,
  input: ListAlarmsInput,
  interval: Interval,
): Promise<Page<Alarm>> {
  const wanted = conditionsOf(input, interval);
  const [direction, opposite] = (input.sortOrder === 'asc' ? ['ASC', 'DESC'] : ['DESC', 'ASC']).map((each) =>
    sql.raw(each),
  );
  const at = sql.raw('coalesce(fired_at, since)');
  const order =
    input.sortBy === 'firedAt'
      ? sql`${at} ${direction}, id ${direction}`
      : sql`(state <> 'CLEARED') ${direction}, severity ${direction}, (acknowledged_at IS NOT NULL) ${opposite},
          ${at} ${opposite}, id ${opposite}`;
  // Plan: alarms_by_firing. There are some hundreds of alarms a day.
  const { rows } = await db.execute<Row>(sql`
    SELECT ${COLUMNS} FROM alarms WHERE ${wanted} ORDER BY ${order} LIMIT ${input.take} OFFSET ${input.skip}`);
  const { rows: counted } = await db.execute<{ total: number }>(
    sql`SELECT count(*)::int AS total FROM alarms WHERE ${wanted}`,
  );
  return { items: await toAlarms(db, rows), total: counted[0]?.total ?? 0 };
}

/** The alarms with these ids, in their order. */
export async function findAlarms(db: Executor, ids: readonly string[]): Promise<Alarm[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.execute<Row>(
    sql`SELECT ${COLUMNS} FROM alarms WHERE id = ANY (${sql.param([...ids].filter(isUuid))}::uuid[])`,
  );
  const byId = new Map((await toAlarms(db, rows)).map((alarm) => [alarm.id, alarm]));
  return ids.flatMap((id) => byId.get(id.toLowerCase()) ?? []);
}

/** @throws AppError `notFound` */
export async function getAlarm(db: Executor, id: string): Promise<Alarm> {
  const [alarm] = await findAlarms(db, [id]);
  if (!alarm) throw notFound('Alarm');
  return alarm;
}

/** Maximum number of alarms for which another one stands that are named. */
const MAX_INHIBITED = 200;

/** @throws AppError `notFound` */
export async function getAlarmDetail(db: Executor, id: string): Promise<AlarmDetail> {
  const alarm = await getAlarm(db, id);
  const { rows } = await db.execute<{
    runbook: string | null;
    policyName: string | null;
    steps: number | null;
    toldAt: string | null;
    inhibits: string[];
  }>(sql`
    SELECT rule.runbook, policies.name AS "policyName", groups.step AS steps, groups.told_at AS "toldAt",
      ARRAY(SELECT id::text FROM alarms AS other WHERE other.inhibiting_id = alarms.id AND other.state = 'FIRING'
        ORDER BY id LIMIT ${MAX_INHIBITED}) AS inhibits
    FROM alarms LEFT JOIN alarm_rules AS rule ON rule.id = rule_id
      LEFT JOIN alarm_groups AS groups ON groups.id = group_id
      LEFT JOIN policies ON policies.id = coalesce(groups.policy_id, rule.policy_id)
    WHERE alarms.id = ${alarm.id}::uuid`);
  const [row] = rows;
  const toldAt = row?.toldAt ? new Date(row.toldAt) : null;
  return {
    ...alarm,
    runbook: row?.runbook ?? null,
    policyName: row?.policyName ?? null,
    steps: row?.steps ?? 0,
    toldAt,
    inhibits: row?.inhibits ?? [],
  };
}

/**
 * Acknowledges an alarm that is firing and not acknowledged yet.
 * @returns whether it was
 */
export async function setAcknowledged(
  tx: Executor,
  id: string,
  userId: string,
  note: string | null,
): Promise<boolean> {
  if (!isUuid(id)) return false;
  const { rowCount } = await tx.execute(sql`
    UPDATE alarms SET acknowledged_at = now(), acknowledged_by = ${userId}::uuid, note = ${note}
    WHERE id = ${id}::uuid AND state = 'FIRING' AND acknowledged_at IS NULL`);
  return rowCount === 1;
}

/**
 * Ends the open alarms of a rule because it was changed or deleted.
 * @returns the ids of those that were firing
 */
export async function endAlarmsOf(
  tx: Transaction,
  ruleId: string,
  because: 'CHANGED' | 'DELETED',
  now: number,
): Promise<string[]> {
  await tx.execute(sql`DELETE FROM alarms WHERE rule_id = ${ruleId}::uuid AND state = 'PENDING'`);
  // What was remembered of alarms that ended must not make new ones flap.
  const { rows } = await tx.execute<{ id: string; was: string }>(sql`
    WITH before AS MATERIALIZED (
      SELECT id, state FROM alarms
      WHERE rule_id = ${ruleId}::uuid AND (state = 'FIRING' OR cleared_at > ${moment(now - FLAPPING_MS)}) FOR NO KEY UPDATE
    )
    UPDATE alarms SET state = 'CLEARED', cleared_at = coalesce(cleared_at, ${moment(now)}),
      cleared_because = coalesce(cleared_because, ${because}), is_flapping = false,
      machine = machine || '{"level": "DOWN", "changes": [], "isFlapping": false}'
    FROM before WHERE alarms.id = before.id
    RETURNING alarms.id, before.state AS was`);
  return rows.flatMap(({ id, was }) => (was === 'FIRING' ? [id] : []));
}

/** @param midnight the start of the day, Unix milliseconds */
export async function readAlarmStats(db: Executor, midnight: number): Promise<AlarmStats> {
  const { rows } = await db.execute<{
    severity: number;
    firing: number;
    unacknowledged: number;
    suppressed: number;
    pending: number;
  }>(sql`
    SELECT severity, count(*) FILTER (WHERE state = 'FIRING')::int AS firing,
      count(*) FILTER (WHERE state = 'FIRING' AND acknowledged_at IS NULL AND NOT ${IS_SUPPRESSED})::int AS unacknowledged,
      count(*) FILTER (WHERE state = 'FIRING' AND ${IS_SUPPRESSED})::int AS suppressed,
      count(*) FILTER (WHERE state = 'PENDING')::int AS pending
    FROM alarms WHERE state <> 'CLEARED' GROUP BY severity`);
  const { rows: others } = await db.execute<{ today: number; rules: number; at: string | null }>(sql`
    SELECT (SELECT count(*) FROM alarms WHERE fired_at >= ${moment(midnight)})::int AS today, evaluated_at AS at,
      (SELECT count(*) FROM alarm_rules WHERE enabled)::int AS rules
    FROM alarm_evaluation`);
  const sum = (of: (row: (typeof rows)[number]) => number): number => rows.reduce((n, row) => n + of(row), 0);
  const at = others[0]?.at;
  return {
    firing: sum(({ firing }) => firing),
    unacknowledged: sum(({ unacknowledged }) => unacknowledged),
    suppressed: sum(({ suppressed }) => suppressed),
    pending: sum(({ pending }) => pending),
    bySeverity: [...severities].reverse().map((severity) => {
      const row = rows.find((each) => each.severity === rankOf(severity));
      return { severity, count: row ? row.firing - row.suppressed : 0 };
    }),
    firedToday: others[0]?.today ?? 0,
    rules: others[0]?.rules ?? 0,
    evaluatedAt: at ? new Date(at) : null,
  };
}

/** Those of the targets' users that do not exist. */
export async function findUnknownUsers(db: Executor, targets: readonly AlarmTarget[]): Promise<string[]> {
  const ids = targets.flatMap((target) => ('userId' in target ? [target.userId] : []));
  const { rows } = await db.execute<{ id: string }>(
    sql`SELECT id FROM users WHERE id = ANY (${sql.param(ids.filter(isUuid))}::uuid[])`,
  );
  const known = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !known.has(id.toLowerCase()));
}

/** The alarms of a message, in the order of their ids, each with its rank from 1 LOW to 4 CRITICAL. */
export async function findAnnounced(
  tx: Transaction,
  ids: readonly string[],
): Promise<(AnnouncedAlarm & { readonly rank: number })[]> {
  const { rows } = await tx.execute<{
    id: string;
    ruleName: string;
    text: string;
    rank: number;
    state: 'FIRING' | 'CLEARED';
    since: string;
    value: number | null;
    place: string | null;
    plate: string | null;
    runbook: string | null;
    isCovert: boolean;
  }>(sql`
    SELECT alarms.id, rule_name AS "ruleName", text, alarms.severity AS rank, state, since, value, place, plate, runbook,
      ${sql.raw(IS_COVERT)} AS "isCovert"
    FROM alarms LEFT JOIN alarm_rules AS rule ON rule.id = rule_id WHERE alarms.id = ANY (${sql.param([...ids])}::uuid[])`);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const found = byId.get(id);
    if (!found) return [];
    const { isCovert, ...row } = found;
    const value = row.value === null ? null : String(Math.round(row.value * 100) / 100);
    const severity = severityOfRank(row.rank) ?? 'LOW';
    // Of hits, only those that are released become alarms; their list may have become covert since.
    return [{ ...row, since: new Date(row.since), value, severity, isReleased: !isCovert }];
  });
}

/**
 * Acknowledges the alarms of a group that are firing; for the group that stands for a storm, those of its policy.
 * @returns their ids; null if the group is closed, or there is no such group
 */
export async function acknowledgeInGroup(
  tx: Transaction,
  groupId: string,
  userId: string,
): Promise<string[] | null> {
  const { rows: groups } = await tx.execute<{ policyId: string; isStorm: boolean }>(sql`
    SELECT policy_id AS "policyId", group_key = ${STORM_KEY} AS "isStorm" FROM alarm_groups
    WHERE id = ${groupId}::uuid AND closed_at IS NULL`);
  const [group] = groups;
  if (!group) return null;
  const members = group.isStorm
    ? sql`group_id IN (SELECT id FROM alarm_groups WHERE policy_id = ${group.policyId}::uuid AND closed_at IS NULL)`
    : sql`group_id = ${groupId}::uuid`;
  const { rows } = await tx.execute<{ id: string }>(sql`
    UPDATE alarms SET acknowledged_at = now(), acknowledged_by = ${userId}::uuid
    WHERE ${members} AND state = 'FIRING' AND acknowledged_at IS NULL RETURNING id`);
  return rows.map(({ id }) => id);
}
