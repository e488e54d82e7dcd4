import {
  agency,
  agencyList,
  createAgencyInput,
  deletedAgency,
  listAgenciesInput,
  updateAgencyInput,
} from '@gantry/contract/agencies';
import { byId } from '@gantry/contract/id';
import { createAgency, deleteAgency, updateAgency } from '../incidents/agencies.ts';
import { getAgency, listAgencies } from '../incidents/agencies-store.ts';
import { allowed, router } from './procedures.ts';

export const agenciesRouter = router({
  getAll: allowed('manageIncidents')
    .meta({ summary: 'List the agencies that can be called to incidents' })
    .input(listAgenciesInput)
    .output(agencyList)
    .query(async ({ ctx: { app }, input }) => ({ agencies: await listAgencies(app.db, input) })),

  getById: allowed('manageIncidents')
    .meta({ summary: 'Get one agency' })
    .input(byId)
    .output(agency)
    .query(({ ctx: { app }, input }) => getAgency(app.db, input.id)),

  create: allowed('systemSettings')
    .meta({ summary: 'Add an agency' })
    .input(createAgencyInput)
    .output(agency)
    .mutation(({ ctx, input }) => createAgency(ctx, input)),

  update: allowed('systemSettings')
    .meta({
      summary: 'Change an agency',
      notes: 'Only the given fields change. Incidents to which it was called keep its former name.',
    })
    .input(updateAgencyInput)
    .output(agency)
    .mutation(({ ctx, input }) => updateAgency(ctx, input)),

  delete: allowed('systemSettings')
    .meta({ summary: 'Delete an agency', notes: 'Incidents to which it was called keep its name.' })
    .input(byId)
    .output(deletedAgency)
    .mutation(async ({ ctx, input }) => ({ success: true as const, id: await deleteAgency(ctx, input.id) })),
});
