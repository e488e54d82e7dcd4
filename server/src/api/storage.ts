import { byId } from '@gantry/contract/id';
import { pageCount } from '@gantry/contract/page';
import {
  holdDetail,
  holdsPage,
  listHoldsInput,
  previewRetentionInput,
  retentionInput,
  retentionPreview,
  retentionRun,
  retentionRunsInput,
  retentionRunsPage,
  retentionSettings,
  setHoldInput,
  storageStats,
} from '@gantry/contract/storage';
import { releaseHold, setHold } from '../events/holds.ts';
import { getHold, listHolds } from '../events/holds-store.ts';
import { getRetentionSettings } from '../retention/rules-store.ts';
import { listRuns } from '../retention/runs-store.ts';
import { previewRetention, runRetention, setRetention } from '../retention/service.ts';
import { getStorageStats } from '../retention/stats.ts';
import { allowed, router, signedIn } from './procedures.ts';

export const storageRouter = router({
  getStats: signedIn
    .meta({ question: true, summary: 'What is stored and how much room it takes' })
    .output(storageStats)
    .query(({ ctx }) => getStorageStats(ctx.app)),

  getRetention: allowed('systemSettings')
    .meta({
      summary: 'How long events, images, reports, the activity log and the counts of traffic are kept',
    })
    .output(retentionSettings)
    .query(({ ctx }) => getRetentionSettings(ctx.app.db)),

  setRetention: allowed('systemSettings')
    .meta({
      summary: 'Change how long things are kept',
      notes:
        'Classes that are left out stay as they are; `events` is set as a whole. Everything is kept for ever unless a number of days is given. What passed stays counted in `traffic` when its events go; only the class `traffic` removes counts, and what it removed is a gap. Nothing is removed before the daily run, at three at night in the time zone of the service: `storage.previewRetention` tells what that will be.',
    })
    .input(retentionInput)
    .output(retentionSettings)
    .mutation(({ ctx, input }) => setRetention(ctx, input)),

  previewRetention: allowed('systemSettings')
    .meta({
      summary: 'What retention would remove now, and what legal holds protect',
      notes:
        'Without input by the rules in force; classes in the input are tried out instead, and nothing is changed. Images are those that no event refers to any more once the rest is gone.',
    })
    .input(previewRetentionInput)
    .output(retentionPreview)
    .query(({ ctx, input }) => previewRetention(ctx, input)),

  runRetention: allowed('systemSettings')
    .meta({
      summary: 'Carry retention out now',
      notes: 'Answers the run that begins; `storage.getRetentionRuns` shows how far it is.',
    })
    .output(retentionRun)
    .mutation(({ ctx }) => runRetention(ctx)),

  getRetentionRuns: allowed('systemSettings')
    .meta({ summary: 'What retention removed and when, newest first' })
    .input(retentionRunsInput)
    .output(retentionRunsPage)
    .query(async ({ ctx, input }) => {
      const { items, total } = await listRuns(ctx.app.db, input);
      return { runs: items, total, pageCount: pageCount(total, input.take) };
    }),

  setHold: allowed('systemSettings')
    .meta({
      summary: 'Put events under a legal hold',
      notes:
        'Until it is released neither retention nor `events.delete` removes them or their images. An event may be under several holds.',
    })
    .input(setHoldInput)
    .output(holdDetail)
    .mutation(({ ctx, input }) => setHold(ctx, input)),

  releaseHold: allowed('systemSettings')
    .meta({ summary: 'Release a legal hold' })
    .input(byId)
    .output(holdDetail)
    .mutation(({ ctx, input }) => releaseHold(ctx, input.id)),

  getHolds: allowed('systemSettings')
    .meta({ summary: 'Legal holds, newest first' })
    .input(listHoldsInput)
    .output(holdsPage)
    .query(async ({ ctx, input }) => {
      const { items, total } = await listHolds(ctx.app.db, input);
      return { holds: items, total, pageCount: pageCount(total, input.take) };
    }),

  getHold: allowed('systemSettings')
    .meta({ summary: 'A legal hold with the events that it names' })
    .input(byId)
    .output(holdDetail)
    .query(({ ctx, input }) => getHold(ctx.app.db, input.id)),
});
