import { byId } from '@gantry/contract/id';
import {
  approveWorksInput,
  cancelWorksInput,
  createWorksInput,
  followWorksInput,
  listWindowsInput,
  listWorksInput,
  savedWorks,
  updateWorksInput,
  worksDetail,
  worksMessage,
  worksPage,
  worksWindows,
} from '@gantry/contract/works';
import { messagesOf } from '../rpc/messages.ts';
import {
  approveWorks,
  cancelWorks,
  createWorks,
  followWorks,
  updateWorks,
  viewOneWorks,
  viewWindows,
  viewWorks,
} from '../works/service.ts';
import { allowed, pageOf, router } from './procedures.ts';

const permitted = allowed('manageIncidents');

export const worksRouter = router({
  getAll: permitted
    .meta({
      question: true,
      summary: 'List planned works and closures',
      notes: '`startDate` and `endDate` select works that may be in force in between.',
    })
    .input(listWorksInput)
    .output(worksPage)
    .query(async ({ ctx, input }) => pageOf('works', await viewWorks(ctx, input), input.take)),

  getById: permitted
    .meta({ summary: 'Get planned works, with their windows and with others on the same carriageway' })
    .input(byId)
    .output(worksDetail)
    .query(({ ctx, input }) => viewOneWorks(ctx, input.id)),

  getWindows: permitted
    .meta({
      question: true,
      summary: 'List when planned works are in force',
      notes: 'Windows that began or were missed are as they were; those to come follow from the hours.',
    })
    .input(listWindowsInput)
    .output(worksWindows)
    .query(({ ctx, input }) => viewWindows(ctx, input)),

  onChanged: permitted
    .meta({ summary: 'Stream changes of planned works', message: worksMessage })
    .input(followWorksInput)
    .subscription(({ ctx, input, signal }) => messagesOf('change', followWorks(ctx, input, signal))),

  create: permitted
    .meta({
      summary: 'Propose works, a closure, or maintenance of sensors',
      notes:
        'They are a DRAFT until `works.approve`. From then on, the service begins and ends each window by itself, once, by the clock of the database, at most 5 s late while it runs. A window that began while no process ran begins late, and one that began ends late; one that passed altogether is MISSED. Other works on the same carriageway are named in `overlaps`.',
    })
    .input(createWorksInput)
    .output(savedWorks)
    .mutation(({ ctx, input }) => createWorks(ctx, input)),

  update: permitted
    .meta({
      summary: 'Change works',
      notes:
        'Only the given fields change; `null` clears a field. Works that are approved become a DRAFT again, unless only the title, description or contact change. While they are in force, these and `endsAt` can be changed: a time that is over ends them now, and a later end needs somebody who may approve it (FORBIDDEN).',
    })
    .input(updateWorksInput)
    .output(savedWorks)
    .mutation(({ ctx, input }) => updateWorks(ctx, input)),

  approve: allowed('approveWorks')
    .meta({
      summary: 'Approve works: DRAFT → APPROVED',
      notes:
        'By an administrator, or by an operator who did not propose what is approved (FORBIDDEN, unless WORKS_SECOND_PERSON is false).',
    })
    .input(approveWorksInput)
    .output(savedWorks)
    .mutation(({ ctx, input }) => approveWorks(ctx, input)),

  cancel: permitted
    .meta({
      summary: 'Cancel works: DRAFT, APPROVED or ACTIVE → CANCELLED',
      notes:
        'Works that are in force end now: their incident is resolved, and sensors get their status back.',
    })
    .input(cancelWorksInput)
    .output(savedWorks)
    .mutation(({ ctx, input }) => cancelWorks(ctx, input)),
});
