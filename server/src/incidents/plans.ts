import { MINUTE_MS } from '@gantry/contract/durations';
import { isUuid } from '@gantry/contract/id';
import type { IncidentWork } from '@gantry/contract/incident-work';
import type { PlanStep } from '@gantry/contract/plan-steps';
import type { CreatePlanInput, Plan, UpdatePlanInput } from '@gantry/contract/plans';
import type { NameOf } from '../accounts/names-store.ts';
import { recordActivity } from '../activity/store.ts';
import { rankOf } from '../events/severity.ts';
import type { ActorContext } from '../platform/context.ts';
import { type Executor, inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { given, givenFields } from '../platform/given.ts';
import {
  deletePlanRow,
  findMissingAgencies,
  findPlanOf,
  getPlanRow,
  insertPlan,
  listPlanRows,
  listStepRows,
  lockPlan,
  type PlanRow,
  showPlans,
  updatePlanRow,
} from './plans-store.ts';
import { requirePlaces } from './references-store.ts';
import type { IncidentRow } from './store.ts';

// The registry of response plans. Incidents keep the version of a plan that they got.

export async function viewPlans({ app: { db } }: ActorContext): Promise<Plan[]> {
  return showPlans(db, await listPlanRows(db));
}

/** @throws AppError `notFound` */
export async function viewPlan({ app: { db } }: ActorContext, id: string): Promise<Plan> {
  return shown(db, await getPlanRow(db, id));
}

/** @throws AppError `badRequest` for a location or an agency that does not exist, or too many plans */
export function createPlan(ctx: ActorContext, { minSeverity, ...fields }: CreatePlanInput): Promise<Plan> {
  const { app, actor, caller } = ctx;
  return inTransaction(app.db, async (tx) => {
    const references = await requireReferences(tx, fields);
    const row = await insertPlan(tx, {
      ...{ ...fields, ...references, minSeverity: rankOf(minSeverity), createdBy: actor.id },
    });
    await recordActivity(tx, actor.id, caller, 'plans.create', { planId: row.id, name: row.name });
    return shown(tx, row);
  });
}

/** Sets the given fields. @throws AppError `notFound`; `conflict` when it has another version; `badRequest` as `createPlan` */
export function updatePlan(
  ctx: ActorContext,
  { id, expectedVersion, minSeverity, ...changes }: UpdatePlanInput,
): Promise<Plan> {
  const { app, actor, caller } = ctx;
  return inTransaction(app.db, async (tx) => {
    const before = await lockPlan(tx, id);
    if (expectedVersion !== undefined && expectedVersion !== before.version)
      throw new AppError(
        'conflict',
        `“${before.name}” has version ${before.version} now: reload it before you change it`,
      );
    const references = await requireReferences(tx, changes, before);
    const row = await updatePlanRow(tx, before.id, {
      ...given({ ...changes, ...references }),
      ...(minSeverity && { minSeverity: rankOf(minSeverity) }),
    });
    const details = { planId: row.id, name: row.name, version: row.version, fields: givenFields(changes) };
    await recordActivity(tx, actor.id, caller, 'plans.update', details);
    return shown(tx, row);
  });
}

/** Deletes a plan; incidents keep the version that they got. @throws AppError `notFound` */
export function deletePlan({ app, actor, caller }: ActorContext, id: string): Promise<string> {
  return inTransaction(app.db, async (tx) => {
    const { id: planId, name } = await deletePlanRow(tx, id);
    await recordActivity(tx, actor.id, caller, 'plans.delete', { planId, name });
    return planId;
  });
}

async function shown(db: Executor, row: PlanRow): Promise<Plan> {
  const [plan] = await showPlans(db, [row]);
  if (!plan) throw new Error('A plan has disappeared');
  return plan;
}

interface References {
  readonly locationIds?: string[] | undefined;
  readonly steps?: PlanStep[] | undefined;
}

/**
 * @param former the plan before a change; what it names may have been deleted since
 * @returns the ids as stored
 * @throws AppError `badRequest` for a location or an agency that does not exist
 */
async function requireReferences(
  tx: Transaction,
  { locationIds, steps }: References,
  former: Pick<PlanRow, 'locationIds' | 'steps'> = { locationIds: [], steps: [] },
): Promise<References> {
  for (const [at, locationId] of (locationIds ?? []).entries())
    if (!former.locationIds.includes(locationId.toLowerCase()))
      await requirePlaces(tx, { locationId }).catch((error: unknown) => {
        throw error instanceof AppError
          ? invalidInput(`locationIds.${at}`, 'No location has this id: use the id of an existing one')
          : error;
      });
  const lower = (steps ?? []).map((step) => ({ ...step, agencyId: step.agencyId?.toLowerCase() ?? null }));
  const missing = await findMissingAgencies(
    tx,
    lower.flatMap(({ agencyId }) => agencyId ?? []),
  );
  const wrong = lower.findIndex(
    ({ agencyId }) =>
      agencyId !== null &&
      (missing.has(agencyId) || !isUuid(agencyId)) &&
      !former.steps.some((step) => step.agencyId === agencyId),
  );
  if (wrong >= 0)
    throw invalidInput(`steps.${wrong}.agencyId`, 'No agency has this id: use the id of an existing one');
  return {
    ...(locationIds && { locationIds: [...new Set(locationIds.map((id) => id.toLowerCase()))] }),
    ...(steps && { steps: lower }),
  };
}

/** The plan of an incident with what was done, as the API returns it. */
export async function viewPlanOf(
  db: Executor,
  { id, openedAt }: IncidentRow,
): Promise<{ show: (nameOf: NameOf) => IncidentWork['plan']; people: string[] }> {
  const plan = await findPlanOf(db, id);
  if (!plan) return { show: () => null, people: [] };
  const rows = await listStepRows(db, id, plan);
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const show = (nameOf: NameOf) => ({
    planId: plan.planId,
    version: plan.version,
    name: plan.name,
    steps: plan.steps.map((step) => {
      const row = byKey.get(step.key);
      return {
        ...step,
        state: row?.state ?? ('OPEN' as const),
        reason: row?.reason ?? null,
        by: nameOf(row?.userId ?? null),
        at: row ? new Date(row.at) : null,
        dueAt: step.dueMinutes === null ? null : new Date(openedAt.getTime() + step.dueMinutes * MINUTE_MS),
      };
    }),
  });
  return { show, people: rows.map(({ userId }) => userId) };
}
