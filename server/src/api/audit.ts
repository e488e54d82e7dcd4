import {
  activityPage,
  auditSampleDetail,
  drawSampleInput,
  judgedEntry,
  judgeInput,
  listSamplesInput,
  readActivityInput,
  samplesPage,
} from '@gantry/contract/audit';
import { byId } from '@gantry/contract/id';
import { viewActivityFeed } from '../audit/feed.ts';
import { drawSample, judge, viewSample, viewSamples } from '../audit/service.ts';
import { allowed, pageOf, router } from './procedures.ts';

export const auditRouter = router({
  drawSample: allowed('manageUsers')
    .meta({
      summary: 'Draw a sample of the searches for plates, looks at plates and downloads, for an audit',
      notes:
        'Drawn at random from the entries `events.lookUpPlate`, `events.view`, `images.view` and `reports.download` of the activity log. The seed is stored: the same seed draws the same entries. Retention keeps the entries of a sample until all of them are judged.',
    })
    .input(drawSampleInput)
    .output(auditSampleDetail)
    .mutation(({ ctx, input }) => drawSample(ctx, input)),

  getSamples: allowed('manageUsers')
    .meta({ summary: 'List the samples, newest first' })
    .input(listSamplesInput)
    .output(samplesPage)
    .query(async ({ ctx, input }) => pageOf('samples', await viewSamples(ctx, input), input.take)),

  getSample: allowed('manageUsers')
    .meta({ summary: 'Get a sample with its entries and what was judged of them' })
    .input(byId)
    .output(auditSampleDetail)
    .query(({ ctx, input }) => viewSample(ctx, input.id)),

  judge: allowed('manageUsers')
    .meta({
      summary: 'Record whether an entry of a sample was justified',
      notes:
        'A further judgement is added; the ones before stay. Nobody judges an entry of their own: FORBIDDEN.',
    })
    .input(judgeInput)
    .output(judgedEntry)
    .mutation(({ ctx, input }) => judge(ctx, input)),

  getActivity: allowed('manageUsers')
    .meta({
      question: true,
      summary: 'Read the activity log in the order of its commits, for another system that keeps it',
      notes:
        'Send `next` of the answer as `after` for the entries that follow: none is left out and none comes twice. After a restore from a backup, begin again without `after`. The same entries are sent to webhooks of the kind `activity` and, with `ACTIVITY_LOG=stdout`, to standard output.',
    })
    .input(readActivityInput)
    .output(activityPage)
    .query(({ ctx, input }) => viewActivityFeed(ctx, input)),
});
