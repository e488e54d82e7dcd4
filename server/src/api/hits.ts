import {
  confirmHitBatchInput,
  confirmHitInput,
  followHitsInput,
  hit,
  hitBatchOutput,
  hitDetail,
  hitMessage,
  hitStats,
  hitStatsInput,
  hitsPage,
  listHitsInput,
  rejectHitBatchInput,
  rejectHitInput,
  setHitOutcomeInput,
} from '@gantry/contract/hits';
import { byId } from '@gantry/contract/id';
import { resolveInterval } from '../platform/time.ts';
import { messagesOf } from '../rpc/messages.ts';
import { confirmHit, followHits, rejectHit, setHitOutcome } from '../watchlist/hits.ts';
import { countHits, getHitDetail, listHits } from '../watchlist/hits-store.ts';
import { EACH_BY_ITSELF, eachOf, itemsOf } from './batch.ts';
import { allowed, pageOf, router } from './procedures.ts';

const WHO_SEES =
  'Users without the permission Verify Hits see a hit once it is released. Hits of covert lists are seen by the owner of the list, administrators and the roles of `visibleTo` only.';

export const hitsRouter = router({
  getAll: allowed('manageIncidents')
    .meta({
      question: true,
      summary: 'List hits of hotlists, newest first by default',
      notes: `\`startDate\` and \`endDate\` apply to \`createdAt\`. ${WHO_SEES} Alerts of the watchlist are listed by \`watchlist.getAlerts\`, which also lists released hits of lists that are not covert.`,
    })
    .input(listHitsInput)
    .output(hitsPage)
    .query(async ({ ctx: { app, actor }, input }) => {
      const interval = resolveInterval(input, app.settings.current().timezone);
      return pageOf('hits', await listHits(app.db, actor, input, interval), input.take);
    }),

  getById: allowed('manageIncidents')
    .meta({ summary: 'Get one hit, with its further reads and what was decided about it', notes: WHO_SEES })
    .input(byId)
    .output(hitDetail)
    .query(({ ctx, input }) => getHitDetail(ctx.app.db, ctx.actor, input.id)),

  confirm: allowed('verifyHits')
    .meta({
      summary: 'Confirm that a hit is the listed vehicle',
      notes:
        'Compare letters, digits and region with the image. This releases the hit. If two people decide at the same time, one succeeds and the other receives CONFLICT with the name of the first and the time.',
    })
    .input(confirmHitInput)
    .output(hit)
    .mutation(({ ctx, input }) => confirmHit(ctx, input.id, input.note)),

  reject: allowed('verifyHits')
    .meta({
      summary: 'Reject a hit that is not the listed vehicle',
      notes: 'The next read of the plate makes a new hit. CONFLICT as `confirm`.',
    })
    .input(rejectHitInput)
    .output(hit)
    .mutation(({ ctx, input: { id, code, note } }) => rejectHit(ctx, id, { code, note })),

  confirmBatch: allowed('verifyHits')
    .meta({ summary: 'Confirm many hits with one note', notes: `As \`confirm\`. ${EACH_BY_ITSELF}` })
    .input(confirmHitBatchInput)
    .output(hitBatchOutput)
    .mutation(async ({ ctx, input: { ids, note } }) => ({
      results: await eachOf(ctx, itemsOf(ids), async ({ id }) => ({
        id,
        hit: await confirmHit(ctx, id, note),
      })),
    })),

  rejectBatch: allowed('verifyHits')
    .meta({ summary: 'Reject many hits with one code and note', notes: `As \`reject\`. ${EACH_BY_ITSELF}` })
    .input(rejectHitBatchInput)
    .output(hitBatchOutput)
    .mutation(async ({ ctx, input: { ids, code, note } }) => ({
      results: await eachOf(ctx, itemsOf(ids), async ({ id }) => ({
        id,
        hit: await rejectHit(ctx, id, { code, note }),
      })),
    })),

  setOutcome: allowed('verifyHits')
    .meta({
      summary: 'Say what became of a confirmed hit',
      notes: 'Once; with `correct`, a former outcome is replaced and stays in the history.',
    })
    .input(setHitOutcomeInput)
    .output(hit)
    .mutation(({ ctx, input }) => setHitOutcome(ctx, input)),

  onHit: allowed('manageIncidents')
    .meta({
      summary: 'Stream hits when they are found, seen again and decided about',
      notes: WHO_SEES,
      message: hitMessage,
    })
    .input(followHitsInput)
    .subscription(({ ctx, input, signal }) => messagesOf('change', followHits(ctx, input, signal))),

  getStats: allowed('manageIncidents')
    .meta({
      question: true,
      summary: 'Count hits and decisions by list, sensor, code or outcome',
      notes: `\`startDate\` and \`endDate\` apply to \`createdAt\`. ${WHO_SEES}`,
    })
    .input(hitStatsInput)
    .output(hitStats)
    .query(async ({ ctx: { app, actor }, input }) => {
      const interval = resolveInterval(input, app.settings.current().timezone);
      return { groups: await countHits(app.db, actor, input.by, interval) };
    }),
});
