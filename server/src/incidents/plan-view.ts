import { MINUTE_MS } from '@gantry/contract/durations';
import type { IncidentWork } from '@gantry/contract/incident-work';
import type { NameOf } from '../accounts/names-store.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { findPlanOf, listStepRows } from './plans-store.ts';
import type { IncidentRow } from './store.ts';

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
