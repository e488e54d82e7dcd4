import { analytics, analyticsInput } from '@gantry/contract/analytics';
import { byId } from '@gantry/contract/id';
import { pageCount } from '@gantry/contract/page';
import {
  createScheduleInput,
  generateReportInput,
  listReportsInput,
  listSchedulesInput,
  removedReport,
  report,
  reportSchedule,
  reportsPage,
  schedulesPage,
  updateScheduleInput,
} from '@gantry/contract/reports';
import { getAnalytics } from '../analytics/service.ts';
import { createSchedule, deleteSchedule, updateSchedule } from '../reports/schedules.ts';
import { listSchedules, showSchedules } from '../reports/schedules-store.ts';
import { cancelReport, deleteReport, generateReport, viewReport } from '../reports/service.ts';
import { listReports, showReports } from '../reports/store.ts';
import { allowed, router } from './procedures.ts';

export const reportsRouter = router({
  getAnalytics: allowed('viewReports')
    .meta({
      question: true,
      summary: 'The figures of an analytics page',
      notes:
        'Those of `events.getStats` for the range, which is the last 30 days if it is left out, and what follows from them.',
    })
    .input(analyticsInput)
    .output(analytics)
    .query(({ ctx: { app }, input }) => getAnalytics(app, input)),

  getReports: allowed('viewReports')
    .meta({ question: true, summary: 'The reports that were asked for, newest first' })
    .input(listReportsInput)
    .output(reportsPage)
    .query(async ({ ctx: { app }, input }) => {
      const { items, total } = await listReports(app.db, input);
      return {
        reports: await showReports(app.db, items),
        total,
        pageCount: pageCount(total, input.take),
      };
    }),

  getById: allowed('viewReports')
    .meta({
      summary: 'One report, and how far it is',
      notes:
        'Once it is DONE its file is fetched with GET from `url`, with the token in the Authorization header.',
    })
    .input(byId)
    .output(report)
    .query(({ ctx, input }) => viewReport(ctx, input.id)),

  generate: allowed('generateReports')
    .meta({
      summary: 'Ask for a report',
      notes:
        'It is made a moment later, also when the service is restarted meanwhile. A CSV file has as many rows as there are; XLSX at most 100,000 (beyond that it is FAILED and says so), PDF the first 5,000, for TRAFFIC a summary of each place and 1,500 rows that the places share; it names what is left out.',
    })
    .input(generateReportInput)
    .output(report)
    .mutation(({ ctx, input }) => generateReport(ctx, input)),

  cancel: allowed('generateReports')
    .meta({
      summary: 'Stop a report that is QUEUED or RUNNING',
      notes: 'CONFLICT when it is finished already.',
    })
    .input(byId)
    .output(report)
    .mutation(({ ctx, input }) => cancelReport(ctx, input.id)),

  delete: allowed('generateReports')
    .meta({ summary: 'Remove a report and its file' })
    .input(byId)
    .output(removedReport)
    .mutation(({ ctx, input }) => deleteReport(ctx, input.id)),

  getSchedules: allowed('viewReports')
    .meta({ summary: 'The schedules of reports, newest first' })
    .input(listSchedulesInput)
    .output(schedulesPage)
    .query(async ({ ctx: { app }, input }) => {
      const { items, total } = await listSchedules(app.db, input);
      return {
        schedules: await showSchedules(app.db, items),
        total,
        pageCount: pageCount(total, input.take),
      };
    }),

  createSchedule: allowed('generateReports')
    .meta({
      summary: 'Have a report made every day, week or month',
      notes:
        'Each is about the whole day, week (by the first day of the week in the settings) or month before. Turns that were missed while the service was down are made up for once, by the last of them.',
    })
    .input(createScheduleInput)
    .output(reportSchedule)
    .mutation(({ ctx, input }) => createSchedule(ctx, input)),

  updateSchedule: allowed('generateReports')
    .meta({ summary: 'Change a schedule', notes: 'Only the given fields change.' })
    .input(updateScheduleInput)
    .output(reportSchedule)
    .mutation(({ ctx, input }) => updateSchedule(ctx, input)),

  deleteSchedule: allowed('generateReports')
    .meta({ summary: 'Remove a schedule', notes: 'The reports that it had made stay.' })
    .input(byId)
    .output(removedReport)
    .mutation(({ ctx, input }) => deleteSchedule(ctx, input.id)),
});
