import { byId } from '@gantry/contract/id';
import {
  createRotaInput,
  deletedRota,
  dutyAnswer,
  onDutyInput,
  previewedRota,
  previewRotaInput,
  rotaList,
  savedRota,
  updateRotaInput,
} from '@gantry/contract/rotas';
import {
  createRota,
  deleteRota,
  previewRota,
  updateRota,
  viewOnDuty,
  viewRota,
  viewRotas,
} from '../notices/rotas.ts';
import { allowed, router } from './procedures.ts';

export const rotasRouter = router({
  getAll: allowed('systemSettings')
    .meta({ summary: 'List the rotas, with who is on duty now' })
    .output(rotaList)
    .query(async ({ ctx }) => ({ rotas: await viewRotas(ctx) })),

  getById: allowed('systemSettings')
    .meta({ summary: 'Get one rota, with warnings about the next four weeks' })
    .input(byId)
    .output(savedRota)
    .query(({ ctx, input }) => viewRota(ctx, input.id)),

  getOnDuty: allowed('systemSettings')
    .meta({ question: true, summary: 'Get who is on duty, and the shifts of some days' })
    .input(onDutyInput)
    .output(dutyAnswer)
    .query(({ ctx, input }) => viewOnDuty(ctx, input)),

  getPreview: allowed('systemSettings')
    .meta({ question: true, summary: 'Get the shifts and the warnings of a rota before it is saved' })
    .input(previewRotaInput)
    .output(previewedRota)
    .query(({ ctx, input }) => previewRota(ctx, input)),

  create: allowed('systemSettings')
    .meta({
      summary: 'Create a rota',
      notes:
        'In each layer, members take turns of `days` days from `start`, at the local time `handover`. A layer with `hours` applies only in them. Where several layers apply, the last one counts; overrides precede all layers, and the last one counts. Where clocks are set forward over a time, it is the time after the gap; where they are set back over it, the first of the two.',
    })
    .input(createRotaInput)
    .output(savedRota)
    .mutation(({ ctx, input }) => createRota(ctx, input)),

  update: allowed('systemSettings')
    .meta({ summary: 'Change a rota', notes: 'Only the given fields change.' })
    .input(updateRotaInput)
    .output(savedRota)
    .mutation(({ ctx, input }) => updateRota(ctx, input)),

  delete: allowed('systemSettings')
    .meta({ summary: 'Delete a rota', notes: 'Refused (CONFLICT) while a policy names it.' })
    .input(byId)
    .output(deletedRota)
    .mutation(async ({ ctx, input }) => ({ success: true as const, id: await deleteRota(ctx, input.id) })),
});
