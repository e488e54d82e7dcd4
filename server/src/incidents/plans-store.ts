import { isUuid } from '@gantry/contract/id';
import type { PlanStep } from '@gantry/contract/plan-steps';
import { MAX_PLANS, type Plan } from '@gantry/contract/plans';
import { asc, eq, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { severityOfRank } from '../events/severity.ts';
import { uuidArray } from '../platform/database/arrays.ts';
import { sortedName } from '../platform/database/case-folded.ts';
import { lockAdditions } from '../platform/database/locks.ts';
import { timeOfUpdate } from '../platform/database/moment.ts';
import { agencies, plans } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { AppError, found } from '../platform/error.ts';

export type PlanRow = typeof plans.$inferSelect;

export function listPlanRows(db: Executor): Promise<PlanRow[]> {
  return db.select().from(plans).orderBy(sortedName(plans.name), asc(plans.id));
}

/** @throws AppError `notFound` */
export async function getPlanRow(db: Executor, id: string): Promise<PlanRow> {
  return found(isUuid(id) ? await db.select().from(plans).where(eq(plans.id, id)) : [], 'Plan');
}

/** Locks a plan until the transaction ends. @throws AppError `notFound` */
export async function lockPlan(tx: Transaction, id: string): Promise<PlanRow> {
  return found(isUuid(id) ? await tx.select().from(plans).where(eq(plans.id, id)).for('update') : [], 'Plan');
}

export async function showPlans(db: Executor, rows: readonly PlanRow[]): Promise<Plan[]> {
  const nameOf = await findNames(
    db,
    rows.map(({ createdBy }) => createdBy),
  );
  return rows.map(({ createdBy, minSeverity, ...row }) => ({
    ...row,
    minSeverity: severityOfRank(minSeverity) ?? 'LOW',
    createdBy: nameOf(createdBy),
  }));
}

/** Adds a plan with its first version. @throws AppError `badRequest` when there are too many */
export async function insertPlan(tx: Transaction, fields: typeof plans.$inferInsert): Promise<PlanRow> {
  await lockAdditions(tx, 'plans');
  if ((await tx.$count(plans)) >= MAX_PLANS)
    throw new AppError('badRequest', `There are ${MAX_PLANS} plans already: delete one first`);
  const row = found(await tx.insert(plans).values(fields).returning(), 'Plan');
  await recordVersion(tx, row);
  return row;
}

/** Changes a plan, which is locked; it gets a new version. */
export async function updatePlanRow(tx: Transaction, id: string, fields: Partial<PlanRow>): Promise<PlanRow> {
  const rows = await tx
    .update(plans)
    .set({ ...fields, version: sql`${plans.version} + 1`, updatedAt: timeOfUpdate() })
    .where(eq(plans.id, id))
    .returning();
  const row = found(rows, 'Plan');
  await recordVersion(tx, row);
  return row;
}

/** Versions stay when their plan is changed or deleted, because incidents have them. */
async function recordVersion(tx: Transaction, { id, version, name, steps }: PlanRow): Promise<void> {
  await tx.execute(sql`
    INSERT INTO plan_versions (plan_id, version, name, steps)
    VALUES (${id}::uuid, ${version}, ${name}, ${JSON.stringify(steps)}::jsonb)`);
}

/** @throws AppError `notFound` */
export async function deletePlanRow(tx: Transaction, id: string): Promise<PlanRow> {
  return found(isUuid(id) ? await tx.delete(plans).where(eq(plans.id, id)).returning() : [], 'Plan');
}

/** The ids that no agency has. */
export async function findMissingAgencies(tx: Transaction, ids: readonly string[]): Promise<Set<string>> {
  const known = await tx.select({ id: agencies.id }).from(agencies);
  const have = new Set(known.map(({ id }) => id));
  return new Set(ids.filter((id) => !have.has(id)));
}

/**
 * Gives incidents the plan that suits each best: one for its location before one for its road, that before one for its
 * type, then the one for the highest severity, then the oldest. Those that no plan suits get none.
 */
export async function choosePlans(tx: Executor, incidentIds: readonly string[]): Promise<void> {
  if (incidentIds.length === 0) return;
  await tx.execute(sql`
    INSERT INTO incident_work (incident_id, plan_id, plan_version)
    SELECT incidents.id, chosen.id, chosen.version
    FROM incidents LEFT JOIN locations ON locations.id = incidents.location_id
      CROSS JOIN LATERAL (
        SELECT plans.id, plans.version FROM plans
        WHERE is_enabled AND incidents.severity >= min_severity
          AND (incident_types = '{}' OR incidents.type = ANY (incident_types))
          AND (location_ids = '{}' OR incidents.location_id = ANY (location_ids))
          AND (roads = '{}' OR gantry_fold(locations.road) IN (SELECT gantry_fold(each) FROM unnest(roads) AS each))
        ORDER BY location_ids <> '{}' DESC, roads <> '{}' DESC, incident_types <> '{}' DESC, min_severity DESC,
          plans.created_at, plans.id
        LIMIT 1
      ) AS chosen
    WHERE incidents.id = ANY (${uuidArray(incidentIds, (id) => id)}::uuid[])
    ON CONFLICT (incident_id) DO UPDATE
    SET plan_id = excluded.plan_id, plan_version = excluded.plan_version`);
}

/** A version of a plan, as an incident has it. */
export interface PlanVersion extends Record<string, unknown> {
  readonly planId: string;
  readonly version: number;
  readonly name: string;
  readonly steps: readonly PlanStep[];
}

/** The plan of an incident in the version that it got; null if it has none. */
export async function findPlanOf(db: Executor, incidentId: string): Promise<PlanVersion | null> {
  const { rows } = await db.execute<PlanVersion>(sql`
    SELECT plan_versions.plan_id AS "planId", plan_versions.version, name, steps
    FROM incident_work JOIN plan_versions
      ON plan_versions.plan_id = incident_work.plan_id AND plan_versions.version = incident_work.plan_version
    WHERE incident_id = ${incidentId}::uuid`);
  return rows[0] ?? null;
}

/** What was done with a step of the plan of an incident. */
export interface StepRow extends Record<string, unknown> {
  readonly key: string;
  readonly state: 'DONE' | 'SKIPPED';
  readonly reason: string | null;
  readonly userId: string;
  readonly at: string;
}

/** The steps of the version that are done or skipped. */
export async function listStepRows(
  db: Executor,
  incidentId: string,
  { planId, version }: PlanVersion,
): Promise<StepRow[]> {
  const { rows } = await db.execute<StepRow>(sql`
    SELECT key, state, reason, user_id AS "userId", to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at
    FROM incident_steps
    WHERE incident_id = ${incidentId}::uuid AND plan_id = ${planId}::uuid AND version = ${version}`);
  return rows;
}

export interface NewStep extends Pick<StepRow, 'key' | 'state' | 'reason' | 'userId'> {
  readonly incidentId: string;
}

/** Records what was done with a step. */
export async function insertStep(
  tx: Transaction,
  { planId, version }: PlanVersion,
  { incidentId, key, state, reason, userId }: NewStep,
): Promise<void> {
  await tx.execute(sql`
    INSERT INTO incident_steps (incident_id, plan_id, version, key, state, reason, user_id)
    VALUES (${incidentId}::uuid, ${planId}::uuid, ${version}, ${key}, ${state}, ${reason}, ${userId}::uuid)`);
}

/** Removes what was done with a step. @returns its state; null if it is open */
export async function deleteStep(
  tx: Transaction,
  { planId, version }: PlanVersion,
  { incidentId, key }: Pick<NewStep, 'incidentId' | 'key'>,
): Promise<StepRow['state'] | null> {
  const { rows } = await tx.execute<Pick<StepRow, 'state'>>(sql`
    DELETE FROM incident_steps
    WHERE incident_id = ${incidentId}::uuid AND plan_id = ${planId}::uuid AND version = ${version} AND key = ${key}
    RETURNING state`);
  return rows[0]?.state ?? null;
}
