import { byId } from '@gantry/contract/id';
import {
  listNoticesInput,
  notice,
  noticesPage,
  redeliveredNotices,
  redeliverNoticesInput,
} from '@gantry/contract/notices';
import { redeliverNotices } from '../notices/channels.ts';
import { getNotice, listNotices } from '../notices/notices-store.ts';
import { resolveInterval } from '../platform/time.ts';
import { allowed, pageOf, router } from './procedures.ts';

export const noticesRouter = router({
  getAll: allowed('systemSettings')
    .meta({
      question: true,
      summary: 'List the messages about alarms',
      notes: 'They are kept for 90 days. `startDate` and `endDate` apply to `createdAt`.',
    })
    .input(listNoticesInput)
    .output(noticesPage)
    .query(async ({ ctx: { app }, input }) => {
      const interval = resolveInterval(input, app.settings.current().timezone);
      return pageOf('notices', await listNotices(app.db, input, interval), input.take);
    }),

  getById: allowed('systemSettings')
    .meta({ summary: 'Get one message' })
    .input(byId)
    .output(notice)
    .query(({ ctx, input }) => getNotice(ctx.app.db, input.id)),

  redeliver: allowed('systemSettings')
    .meta({
      summary: 'Send again: one message, or all failed ones of a channel of the last day',
      notes: 'Ids and texts do not change.',
    })
    .input(redeliverNoticesInput)
    .output(redeliveredNotices)
    .mutation(({ ctx, input }) => redeliverNotices(ctx, input)),
});
