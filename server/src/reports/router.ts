import { analytics, analyticsInput, listReportsInput, reportsPage } from '@gantry/contract/reports';
import { getEventStats } from '../events/stats-store.ts';
import { resolveInterval } from '../time.ts';
import { allowed, router } from '../wire/procedures.ts';

export const reportsRouter = router({
  getAnalytics: allowed('viewReports')
    .meta({ summary: 'The figures of an analytics page', notes: 'For now those of `events.getStats`.' })
    .input(analyticsInput)
    .output(analytics)
    .query(({ ctx: { app }, input }) =>
      getEventStats(app.db, resolveInterval(input, app.settings.current().timezone)),
    ),

  getReports: allowed('viewReports')
    .meta({
      summary: 'The reports that were generated',
      notes: 'Reports cannot be generated yet, so the list is empty.',
    })
    .input(listReportsInput)
    .output(reportsPage)
    .query(() => ({ reports: [], total: 0, pageCount: 0 })),
});
