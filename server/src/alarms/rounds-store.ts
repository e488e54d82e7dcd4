import type { AlarmLabel, AlarmRule, AlarmSource } from '@gantry/contract/alarm-rules';
import type { PolicyStep } from '@gantry/contract/alarms';
import { MINUTE_MS } from '@gantry/contract/durations';
import { sql } from 'drizzle-orm';
import { severityOfRank } from '../events/severity.ts';
import { locks } from '../platform/database/locks.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { type AlarmChange, mayMove, type StoredAlarm } from './evaluate.ts';
import type { ObservedRule } from './observe.ts';
import type { Group, Plan, PlannedPolicy } from './plan.ts';
import { STORM_MS } from './plan.ts';
import { FLAPPING_MS, type Machine } from './step.ts';
import type { ActiveSilence, Maintained, Suppressible, Suppression } from './suppress.ts';

// What a round of the evaluation reads and writes, in its transaction.

/** When rules were evaluated before; Unix milliseconds, null for never. */
export interface LastRound {
  readonly evaluatedAt: number | null;
  readonly minuteAt: number | null;
}

/** Claims the evaluation until the transaction ends. @returns null if another process has it */
export async function takeTurn(tx: Transaction): Promise<LastRound | null> {
  const { rows } = await tx.execute<{ mine: boolean; at: number | null; minute: number | null }>(sql`
    SELECT pg_try_advisory_xact_lock(${locks.alarms}) AS mine,
      (extract(epoch FROM evaluated_at) * 1000)::float8 AS at, (extract(epoch FROM minute_at) * 1000)::float8 AS minute
    FROM alarm_evaluation`);
  const [row] = rows;
  return row?.mine ? { evaluatedAt: row.at, minuteAt: row.minute } : null;
}

/** Excludes rounds until the transaction ends, for changes of rules; waits for a round in progress. */
export async function excludeRounds(tx: Transaction): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.alarms})`);
}

/** Records a round. @param minute the minute up to which rules were evaluated by minutes, Unix milliseconds */
export async function recordRound(tx: Transaction, now: number, minute: number | null): Promise<void> {
  await tx.execute(sql`
    UPDATE alarm_evaluation SET evaluated_at = ${moment(now)}, minute_at = ${minute === null ? null : moment(minute)}`);
}

/** Whether rounds have anything to do: rules that are enabled, or groups that are open. */
export async function hasWork(db: Executor): Promise<boolean> {
  const { rows } = await db.execute<{ found: boolean }>(sql`
    SELECT EXISTS (SELECT FROM alarm_rules WHERE enabled) OR EXISTS (SELECT FROM alarm_groups WHERE closed_at IS NULL) AS found`);
  return rows[0]?.found === true;
}

/** A rule as rounds need it. */
export interface ActiveRule extends ObservedRule {
  readonly name: string;
  readonly source: AlarmSource;
  /** From 1 LOW to 4 CRITICAL. */
  readonly severity: number;
  readonly forSeconds: number;
  readonly noData: 'KEEP' | 'CLEAR' | 'ALARM';
  readonly hours: AlarmRule['hours'];
}

/** The enabled rules. */
export async function readActiveRules(db: Executor): Promise<ActiveRule[]> {
  const { rows } = await db.execute<ActiveRule & Record<string, unknown>>(sql`
    SELECT id, name, source, condition, scope, clear, severity, for_seconds AS "forSeconds", no_data AS "noData", hours
    FROM alarm_rules WHERE enabled ORDER BY id`);
  return rows;
}

/** The open alarms, and those that ended within the time of flapping, by rule; oldest first. */
export async function readStored(tx: Transaction, now: number): Promise<ReadonlyMap<string, StoredAlarm[]>> {
  // Plan: alarms_open, alarms_cleared.
  const { rows } = await tx.execute<StoredAlarm & { ruleId: string } & Record<string, unknown>>(sql`
    SELECT id, rule_id AS "ruleId", key, state, machine, location_id AS "locationId" FROM alarms
    WHERE state <> 'CLEARED' OR cleared_at > ${moment(now - FLAPPING_MS)} ORDER BY since, id`);
  const byRule = new Map<string, StoredAlarm[]>();
  for (const { ruleId, ...alarm } of rows) {
    const known = byRule.get(ruleId);
    if (known) known.push(alarm);
    else byRule.set(ruleId, [alarm]);
  }
  return byRule;
}

function timeOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

function stateOf(machine: Machine, state: StoredAlarm['state'], now: number) {
  return {
    state,
    since: timeOf(machine.since),
    fired_at: timeOf(machine.firedAt),
    cleared_at: state === 'CLEARED' ? timeOf(now) : null,
    machine,
    value: machine.value,
    worst: machine.worst,
    flaps: machine.changes.length,
    is_flapping: machine.isFlapping,
  };
}

/** Makes the changes of the alarms of a rule. @returns the ids of those that subscribers want to know of */
export async function writeChanges(
  tx: Transaction,
  rule: ActiveRule,
  changes: readonly AlarmChange[],
  now: number,
): Promise<string[]> {
  const opened = changes.flatMap((change) => (change.kind === 'OPEN' ? [change] : []));
  const changed = changes.flatMap((change) => (change.kind === 'CHANGE' ? [change] : []));
  const dropped = changes.flatMap((change) => (change.kind === 'DROP' ? [change.id] : []));
  if (dropped.length > 0)
    await tx.execute(sql`DELETE FROM alarms WHERE id = ANY (${sql.param(dropped)}::uuid[])`);
  const ids: string[] = [];
  if (opened.length > 0) ids.push(...(await insertOpened(tx, rule, opened, now)));
  if (changed.length > 0) {
    const given = changed.map(({ id, state, machine, about }) => ({
      id,
      ...stateOf(machine, state, now),
      text: about?.text ?? null,
      place: about?.place ?? null,
      location_id: about?.locationId ?? null,
      is_moved: about !== null && mayMove(about),
    }));
    await tx.execute(sql`
      UPDATE alarms SET state = given.state, since = given.since, fired_at = coalesce(alarms.fired_at, given.fired_at),
        cleared_at = given.cleared_at, cleared_because = CASE WHEN given.state = 'CLEARED' THEN 'ENDED' END,
        machine = given.machine, value = given.value, worst = given.worst, flaps = given.flaps,
        is_flapping = given.is_flapping, text = coalesce(given.text, alarms.text), place = coalesce(given.place, alarms.place),
        location_id = CASE WHEN given.is_moved THEN given.location_id ELSE alarms.location_id END
      FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb) AS given (id uuid, state text, since timestamptz,
        fired_at timestamptz, cleared_at timestamptz, machine jsonb, value float8, worst float8, flaps int,
        is_flapping boolean, text text, place text, location_id uuid, is_moved boolean)
      WHERE alarms.id = given.id`);
    ids.push(...changed.filter(({ effects }) => effects.length > 0).map(({ id }) => id));
  }
  return ids;
}

type Opened = Extract<AlarmChange, { kind: 'OPEN' }>;

async function insertOpened(
  tx: Transaction,
  { id: ruleId, name, source, severity }: ActiveRule,
  opened: readonly Opened[],
  now: number,
): Promise<string[]> {
  const given = opened.map(({ key, state, machine, about }) => ({
    key,
    ...stateOf(machine, state, now),
    text: about.text,
    place: about.place,
    sensor_id: about.sensorId ?? null,
    location_id: about.locationId ?? null,
    incident_id: about.incidentId ?? null,
    alert_id: about.alertId ?? null,
    plate: about.plate ?? null,
  }));
  const { rows } = await tx.execute<{ id: string; state: string }>(sql`
    INSERT INTO alarms (rule_id, rule_name, source, severity, key, state, since, fired_at, machine, value, worst, flaps,
      is_flapping, text, place, sensor_id, location_id, incident_id, alert_id, plate)
    SELECT ${ruleId}::uuid, ${name}, ${source}, ${severity}::smallint, key, state, since, fired_at, machine, value, worst,
      flaps, is_flapping, text, place, sensor_id, location_id, incident_id, alert_id, plate
    FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb) AS given (key text, state text, since timestamptz,
      fired_at timestamptz, machine jsonb, value float8, worst float8, flaps int, is_flapping boolean, text text,
      place text, sensor_id uuid, location_id uuid, incident_id uuid, alert_id uuid, plate text)
    RETURNING id, state`);
  return rows.flatMap(({ id, state }) => (state === 'FIRING' ? [id] : []));
}

/** An alarm as the planning of messages needs it. */
export interface PlannedAlarm extends Suppressible {
  readonly policyId: string | null;
  readonly groupBy: readonly AlarmLabel[];
  readonly groupId: string | null;
  readonly isFiring: boolean;
  readonly isFlapping: boolean;
  /** From 1 LOW to 4 CRITICAL. */
  readonly rank: number;
  readonly firedAt: number;
  readonly isAcknowledged: boolean;
  readonly isSettled: boolean;
  readonly silencedBy: string | null;
  readonly inhibitedBy: Suppression['cause'];
  readonly inhibitingId: string | null;
}

/** The alarms that are firing, whose end is not told yet, or that fired within the time by which storms are recognized. */
export async function readToPlan(tx: Transaction, now: number): Promise<PlannedAlarm[]> {
  // Plan: alarms_open, alarms_unsettled, alarms_by_firing.
  const { rows } = await tx.execute<Omit<PlannedAlarm, 'severity'> & Record<string, unknown>>(sql`
    SELECT alarms.id, rule_id AS "ruleId", key, alarms.source, alarms.severity AS rank, sensor_id AS "sensorId",
      location_id AS "locationId", coalesce(rule.policy_id, groups.policy_id) AS "policyId",
      coalesce(rule.group_by, '{RULE}') AS "groupBy", group_id AS "groupId", state = 'FIRING' AS "isFiring",
      is_flapping AS "isFlapping", (extract(epoch FROM fired_at) * 1000)::float8 AS "firedAt",
      acknowledged_at IS NOT NULL AS "isAcknowledged", is_settled AS "isSettled", silenced_by AS "silencedBy",
      inhibited_by AS "inhibitedBy", inhibiting_id AS "inhibitingId"
    FROM alarms LEFT JOIN alarm_rules AS rule ON rule.id = rule_id LEFT JOIN alarm_groups AS groups ON groups.id = group_id
    WHERE state = 'FIRING' OR (state = 'CLEARED' AND NOT is_settled AND group_id IS NOT NULL)
      OR (state = 'CLEARED' AND fired_at > ${moment(now - STORM_MS)})`);
  return rows.map((row) => ({ ...row, severity: severityOfRank(row.rank) ?? 'LOW' }));
}

/** The silences that hold at a time (Unix milliseconds). */
export async function readActiveSilences(tx: Transaction, now: number): Promise<ActiveSilence[]> {
  const { rows } = await tx.execute<ActiveSilence & Record<string, unknown>>(sql`
    SELECT id, matchers FROM silences WHERE starts_at <= ${moment(now)} AND ends_at > ${moment(now)} ORDER BY created_at, id`);
  return rows;
}

/** The sensors, and the locations with no others, that are in maintenance because of planned works. */
export async function readMaintained(tx: Transaction): Promise<Maintained> {
  const { rows } = await tx.execute<{ id: string; worksId: string }>(sql`
    WITH maintained AS (SELECT DISTINCT ON (sensor_id) sensor_id, works_id FROM works_sensors ORDER BY sensor_id, works_id)
    SELECT sensor_id::text AS id, works_id AS "worksId" FROM maintained
    UNION ALL
    SELECT location_id::text, min(works_id::text)::uuid
    FROM sensors LEFT JOIN maintained ON maintained.sensor_id = sensors.id
    WHERE location_id IN (SELECT location_id FROM maintained JOIN sensors ON sensors.id = sensor_id)
    GROUP BY location_id HAVING bool_and(works_id IS NOT NULL)`);
  return new Map(rows.map(({ id, worksId }) => [id, worksId]));
}

/** Records why alarms are not told. */
export async function writeSuppressions(
  tx: Transaction,
  changed: readonly (Suppression & { readonly id: string })[],
): Promise<void> {
  if (changed.length === 0) return;
  await tx.execute(sql`
    UPDATE alarms SET silenced_by = given."silencedBy", inhibited_by = given.cause, inhibiting_id = given."causeId"
    FROM jsonb_to_recordset(${JSON.stringify(changed)}::jsonb) AS given (id uuid, "silencedBy" uuid, cause text, "causeId" uuid)
    WHERE alarms.id = given.id`);
}

export interface NamedPolicy extends PlannedPolicy {
  readonly name: string;
}

/** All policies. */
export async function readPoliciesToPlan(tx: Transaction): Promise<NamedPolicy[]> {
  const { rows } = await tx.execute<{
    id: string;
    name: string;
    steps: PolicyStep[];
    wait: number;
    interval: number;
    repeat: number;
    clear: boolean;
  }>(sql`
    SELECT id, name, steps, group_wait_s AS wait, group_interval_s AS interval, repeat_minutes AS repeat, notify_clear AS clear
    FROM policies`);
  return rows.map(({ id, name, steps, wait, interval, repeat, clear }) => ({
    id,
    name,
    steps,
    waitMs: wait * 1_000,
    intervalMs: interval * 1_000,
    repeatMs: repeat * MINUTE_MS,
    notifyClear: clear,
  }));
}

/** The open groups. */
export async function readOpenGroups(tx: Transaction): Promise<Group[]> {
  const at = (column: string) => sql.raw(`(extract(epoch FROM ${column}) * 1000)::float8`);
  const { rows } = await tx.execute<Group & Record<string, unknown>>(sql`
    SELECT id, policy_id AS "policyId", group_key AS key, ${at('opened_at')} AS "openedAt", ${at('next_at')} AS "nextAt",
      NULL::float8 AS "closedAt", step, ${at('first_told_at')} AS "firstToldAt", ${at('told_at')} AS "toldAt",
      told_firing AS "toldFiring", told_cleared AS "toldCleared"
    FROM alarm_groups WHERE closed_at IS NULL`);
  return rows;
}

/** Writes what was planned for groups and their alarms. */
export async function writePlan(
  tx: Transaction,
  { groups, joins, settled }: Omit<Plan, 'messages'>,
): Promise<void> {
  if (groups.length > 0) {
    const given = groups.map((group) => ({
      ...group,
      openedAt: timeOf(group.openedAt),
      nextAt: timeOf(group.nextAt),
      closedAt: timeOf(group.closedAt),
      firstToldAt: timeOf(group.firstToldAt),
      toldAt: timeOf(group.toldAt),
    }));
    await tx.execute(sql`
      INSERT INTO alarm_groups (id, policy_id, group_key, opened_at, next_at, closed_at, step, first_told_at, told_at,
        told_firing, told_cleared)
      SELECT id, "policyId", key, "openedAt", "nextAt", "closedAt", step, "firstToldAt", "toldAt",
        ARRAY(SELECT jsonb_array_elements_text("toldFiring")), ARRAY(SELECT jsonb_array_elements_text("toldCleared"))
      FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb) AS given (id uuid, "policyId" uuid, key text,
        "openedAt" timestamptz, "nextAt" timestamptz, "closedAt" timestamptz, step smallint,
        "firstToldAt" timestamptz, "toldAt" timestamptz, "toldFiring" jsonb, "toldCleared" jsonb)
      ON CONFLICT (id) DO UPDATE SET next_at = excluded.next_at, closed_at = excluded.closed_at, step = excluded.step,
        first_told_at = excluded.first_told_at, told_at = excluded.told_at,
        told_firing = excluded.told_firing, told_cleared = excluded.told_cleared`);
  }
  if (joins.length > 0)
    await tx.execute(sql`
      UPDATE alarms SET group_id = given."groupId"
      FROM jsonb_to_recordset(${JSON.stringify(joins)}::jsonb) AS given ("alarmId" uuid, "groupId" uuid)
      WHERE id = given."alarmId"`);
  if (settled.length > 0)
    await tx.execute(sql`UPDATE alarms SET is_settled = true WHERE id = ANY (${sql.param(settled)}::uuid[])`);
}

/** How long alarms that ended, and silences and groups, are kept. */
const KEPT = sql.raw("interval '400 days'");

/** Removes what ended long ago, at most `most` rows of each table. */
export async function removeOld(db: Executor, most: number): Promise<void> {
  for (const [table, column] of [
    ['alarms', 'cleared_at'],
    ['alarm_groups', 'closed_at'],
    ['silences', 'ends_at'],
  ] as const) {
    const [name, end] = [sql.raw(table), sql.raw(column)];
    await db.execute(sql`
      DELETE FROM ${name} WHERE id IN (SELECT id FROM ${name} WHERE ${end} < now() - ${KEPT} ORDER BY ${end} LIMIT ${most})`);
  }
}
