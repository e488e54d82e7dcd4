import { z } from 'zod';
import { severity } from './events.ts';
import { id } from './id.ts';
import { incidentType } from './incidents.ts';
import { person } from './person.ts';
import { planStep, planStepFields } from './plan-steps.ts';
import { trimmedText } from './text.ts';

// Response plans: what is to be done at an incident, in steps.

/** Maximum number of plans, and of steps of a plan. */
export const MAX_PLANS = 200;
export const MAX_STEPS = 40;

const steps = z
  .array(planStepFields)
  .min(1, 'Give at least one step')
  .max(MAX_STEPS, `Give at most ${MAX_STEPS} steps`)
  .superRefine((given, ctx) => {
    const keys = new Set<string>();
    for (const [at, { key, kind, agencyId, sets }] of given.entries()) {
      const refuse = (field: string, message: string) =>
        ctx.addIssue({ code: 'custom', path: [at, field], message });
      if (keys.has(key)) refuse('key', `Two steps have the key ${key}: give each its own`);
      keys.add(key);
      if (kind === 'NOTIFY' && agencyId === null) refuse('agencyId', 'Name the agency that is notified');
      if (kind === 'RECORD_TIME' && sets === null) refuse('sets', 'Name the time that is recorded');
      if (kind !== 'RECORD_TIME' && sets !== null)
        refuse('sets', 'Only steps of the kind RECORD_TIME set a time');
    }
  });

const condition = {
  incidentTypes: z.array(incidentType).max(20).describe('Empty: for all types.'),
  minSeverity: severity.describe('For incidents of this severity or a higher one.'),
  roads: z.array(trimmedText(100, 1)).max(50).describe('Roads of locations, ignoring case. Empty: for all.'),
  locationIds: z.array(id).max(100).describe('Empty: for all locations, and without one.'),
  isEnabled: z.boolean().describe('Whether new incidents get it.'),
};

export const plan = z.object({
  id: z.string(),
  name: z.string(),
  ...condition,
  locationIds: z.array(z.string()).describe('Empty: for all locations, and without one.'),
  roads: z.array(z.string()).describe('Empty: for all roads.'),
  version: z.number().describe('Number of its changes. Incidents keep the version that they got.'),
  steps: z.array(planStep),
  createdBy: person.nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type Plan = z.infer<typeof plan>;
export const planList = z.object({ plans: z.array(plan).describe('By name.') });

const name = trimmedText(100, 1);
export const createPlanInput = z.object({
  name,
  incidentTypes: condition.incidentTypes.default([]),
  minSeverity: condition.minSeverity.default('LOW'),
  roads: condition.roads.default([]),
  locationIds: condition.locationIds.default([]),
  isEnabled: condition.isEnabled.default(true),
  steps,
});
export type CreatePlanInput = z.infer<typeof createPlanInput>;

export const updatePlanInput = z.object({
  id,
  expectedVersion: z
    .int()
    .optional()
    .describe('The version that you saw. If somebody has changed it since, nothing changes (CONFLICT).'),
  name: name.optional(),
  incidentTypes: condition.incidentTypes.optional(),
  minSeverity: condition.minSeverity.optional(),
  roads: condition.roads.optional(),
  locationIds: condition.locationIds.optional(),
  isEnabled: condition.isEnabled.optional(),
  steps: steps.optional(),
});
export type UpdatePlanInput = z.infer<typeof updatePlanInput>;
export const deletedPlan = z.object({ success: z.literal(true), id: z.string() });
