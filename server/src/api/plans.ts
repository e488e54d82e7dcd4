import { byId } from '@gantry/contract/id';
import { createPlanInput, deletedPlan, plan, planList, updatePlanInput } from '@gantry/contract/plans';
import { createPlan, deletePlan, updatePlan, viewPlan, viewPlans } from '../incidents/plans.ts';
import { allowed, router } from './procedures.ts';

export const plansRouter = router({
  getAll: allowed('manageIncidents')
    .meta({ summary: 'List the response plans' })
    .output(planList)
    .query(async ({ ctx }) => ({ plans: await viewPlans(ctx) })),

  getById: allowed('manageIncidents')
    .meta({ summary: 'Get one response plan' })
    .input(byId)
    .output(plan)
    .query(({ ctx, input }) => viewPlan(ctx, input.id)),

  create: allowed('systemSettings')
    .meta({
      summary: 'Create a response plan',
      notes:
        'An incident gets the plan that suits it best when it is opened: one for its location before one for its road, that before one for its type, then the one for the highest severity, then the oldest.',
    })
    .input(createPlanInput)
    .output(plan)
    .mutation(({ ctx, input }) => createPlan(ctx, input)),

  update: allowed('systemSettings')
    .meta({
      summary: 'Change a response plan',
      notes:
        'Only the given fields change; the plan gets a new version. Incidents keep the version that they got, until `incidents.setPlan`.',
    })
    .input(updatePlanInput)
    .output(plan)
    .mutation(({ ctx, input }) => updatePlan(ctx, input)),

  delete: allowed('systemSettings')
    .meta({ summary: 'Delete a response plan', notes: 'Incidents keep the version that they got.' })
    .input(byId)
    .output(deletedPlan)
    .mutation(async ({ ctx, input }) => ({ success: true as const, id: await deletePlan(ctx, input.id) })),
});
