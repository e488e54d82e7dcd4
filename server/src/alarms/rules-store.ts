import {
  type AlarmRule,
  type AlarmRuleInput,
  type AlarmScope,
  type ListAlarmRulesInput,
  MAX_ALARM_RULES,
} from '@gantry/contract/alarm-rules';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { type SQL, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { rankOf, severityOfRank } from '../events/severity.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { AppError, notFound } from '../platform/error.ts';

/** A rule without what follows from it. */
export type StoredRule = Omit<AlarmRule, 'sentence' | 'warnings'>;

interface Row extends Record<string, unknown> {
  readonly severity: number;
  readonly createdBy: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

function select(condition: SQL, rest: SQL = sql``): SQL {
  return sql`
    SELECT rule.id, rule.name, enabled, condition, scope, severity, for_seconds AS "forSeconds", clear, no_data AS "noData",
      hours, group_by AS "groupBy", policy_id AS "policyId", policies.name AS "policyName", runbook,
      created_by AS "createdBy", rule.created_at AS "createdAt", rule.updated_at AS "updatedAt",
      (SELECT count(*) FROM alarms WHERE rule_id = rule.id AND state = 'FIRING')::int AS firing
    FROM alarm_rules AS rule LEFT JOIN policies ON policies.id = policy_id WHERE ${condition} ${rest}`;
}

async function toRules(db: Executor, rows: readonly Row[]): Promise<StoredRule[]> {
  const nameOf = await findNames(
    db,
    rows.map(({ createdBy }) => createdBy),
  );
  return rows.map(
    (row) =>
      ({
        ...row,
        severity: severityOfRank(row.severity),
        createdBy: nameOf(row.createdBy),
        createdAt: new Date(row.createdAt),
        updatedAt: new Date(row.updatedAt),
      }) as unknown as StoredRule,
  );
}

export async function listRules(
  db: Executor,
  { skip, take, source, enabled }: ListAlarmRulesInput,
): Promise<Page<StoredRule>> {
  const wanted = sql`${source === undefined ? sql`true` : sql`source = ${source}`}
    AND ${enabled === undefined ? sql`true` : sql`enabled = ${enabled}`}`;
  const order = sql`ORDER BY rule.created_at, rule.name, rule.id LIMIT ${take} OFFSET ${skip}`;
  const { rows } = await db.execute<Row>(select(wanted, order));
  const { rows: counted } = await db.execute<{ total: number }>(
    sql`SELECT count(*)::int AS total FROM alarm_rules WHERE ${wanted}`,
  );
  return { items: await toRules(db, rows), total: counted[0]?.total ?? 0 };
}

/** @throws AppError `notFound` */
export async function getRule(db: Executor, id: string): Promise<StoredRule> {
  const { rows } = isUuid(id) ? await db.execute<Row>(select(sql`rule.id = ${id}::uuid`)) : { rows: [] };
  const [rule] = await toRules(db, rows);
  if (!rule) throw notFound('Alarm rule');
  return rule;
}

function columnsOf(
  rule: Omit<AlarmRuleInput, 'runbook'> & { runbook: string | null },
): readonly [string, SQL][] {
  return [
    ['name', sql`${rule.name}`],
    ['enabled', sql`${rule.enabled}`],
    ['source', sql`${rule.condition.source}`],
    ['condition', sql`${JSON.stringify(rule.condition)}::jsonb`],
    ['scope', sql`${JSON.stringify(rule.scope)}::jsonb`],
    ['severity', sql`${rankOf(rule.severity)}`],
    ['for_seconds', sql`${rule.forSeconds}`],
    ['clear', sql`${rule.clear && JSON.stringify(rule.clear)}::jsonb`],
    ['no_data', sql`${rule.noData}`],
    ['hours', sql`${rule.hours && JSON.stringify(rule.hours)}::jsonb`],
    ['group_by', sql`${sql.param(rule.groupBy)}::text[]`],
    ['policy_id', sql`${rule.policyId}::uuid`],
    ['runbook', sql`${rule.runbook}`],
  ];
}

/** Adds a rule. @throws AppError `badRequest` when there are too many */
export async function insertRule(tx: Transaction, rule: AlarmRuleInput, userId: string): Promise<string> {
  const { rows: counted } = await tx.execute<{ n: number }>(sql`SELECT count(*)::int AS n FROM alarm_rules`);
  if ((counted[0]?.n ?? 0) >= MAX_ALARM_RULES)
    throw new AppError('badRequest', `There are ${MAX_ALARM_RULES} alarm rules already: delete one first`);
  const columns = columnsOf(rule);
  const names = sql.raw(columns.map(([name]) => name).join(', '));
  const values = sql.join(
    columns.map(([, value]) => value),
    sql`, `,
  );
  const { rows } = await tx.execute<{ id: string }>(
    sql`INSERT INTO alarm_rules (${names}, created_by) VALUES (${values}, ${userId}::uuid) RETURNING id`,
  );
  if (!rows[0]) throw new Error('PostgreSQL did not return the inserted rule');
  return rows[0].id;
}

/** Replaces a rule. */
export async function replaceRule(tx: Transaction, id: string, rule: AlarmRuleInput): Promise<void> {
  const columns = columnsOf(rule).map(([name, value]) => sql`${sql.raw(name)} = ${value}`);
  await tx.execute(
    sql`UPDATE alarm_rules SET ${sql.join(columns, sql`, `)}, updated_at = now() WHERE id = ${id}::uuid`,
  );
}

export async function deleteRuleRow(tx: Transaction, id: string): Promise<void> {
  await tx.execute(sql`DELETE FROM alarm_rules WHERE id = ${id}::uuid`);
}

/** The ids in a scope that do not exist. */
export async function findUnknownInScope(
  db: Executor,
  { locationIds, sensorIds }: Pick<AlarmScope, 'locationIds' | 'sensorIds'>,
): Promise<{ readonly field: 'locationIds' | 'sensorIds'; readonly noun: string; readonly id: string }[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT id FROM locations WHERE id = ANY (${sql.param(locationIds.filter(isUuid))}::uuid[])
    UNION ALL SELECT id FROM sensors WHERE id = ANY (${sql.param(sensorIds.filter(isUuid))}::uuid[])`);
  const known = new Set(rows.map(({ id }) => id));
  const isUnknown = (id: string): boolean => !known.has(id.toLowerCase());
  return [
    ...locationIds.filter(isUnknown).map((id) => ({ field: 'locationIds' as const, noun: 'location', id })),
    ...sensorIds.filter(isUnknown).map((id) => ({ field: 'sensorIds' as const, noun: 'sensor', id })),
  ];
}

/** Those of the ids that are not those of rules. */
export async function findUnknownRules(db: Executor, ids: readonly string[]): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(
    sql`SELECT id FROM alarm_rules WHERE id = ANY (${sql.param(ids.filter(isUuid))}::uuid[])`,
  );
  const known = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !known.has(id.toLowerCase()));
}

/** A condition for rows that a scope names, if it names any. */
export function isNamed(column: SQL, ids: readonly string[]): SQL {
  return ids.length === 0 ? sql`true` : sql`${column} = ANY (${sql.param(ids.filter(isUuid))}::uuid[])`;
}

interface ScopeState extends Record<string, unknown> {
  readonly sensors: number;
  /** Those that count by intervals. */
  readonly periodic: number;
  readonly locations: number;
  readonly withoutLimit: number;
}

/** The numbers of sensors in a scope, of their locations, and of those without a speed limit. */
export async function readScopeState(
  db: Executor,
  { locationIds, sensorIds, sensorTypes }: AlarmScope,
): Promise<ScopeState> {
  const { rows } = await db.execute<ScopeState>(sql`
    SELECT count(*)::int AS sensors, count(DISTINCT location_id)::int AS locations,
      count(*) FILTER (WHERE sensors.id IN (SELECT sensor_id FROM traffic_places WHERE periods))::int AS periodic,
      count(DISTINCT location_id) FILTER (WHERE speed_limit IS NULL)::int AS "withoutLimit"
    FROM sensors LEFT JOIN locations ON locations.id = location_id
    WHERE ${isNamed(sql`location_id`, locationIds)} AND ${isNamed(sql`sensors.id`, sensorIds)}
      AND ${sensorTypes.length === 0 ? sql`true` : sql`type = ANY (${sql.param(sensorTypes)}::text[])`}`);
  return rows[0] ?? { sensors: 0, periodic: 0, locations: 0, withoutLimit: 0 };
}
