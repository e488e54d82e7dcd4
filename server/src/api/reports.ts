import { analytics, analyticsInput, repeatPlates, repeatPlatesInput } from '@gantry/contract/analytics';
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
import { getAnalytics, getRepeatPlates } from '../reports/analytics/service.ts';
import { createSchedule, deleteSchedule, updateSchedule } from '../reports/schedules.ts';
import { listSchedules, showSchedules } from '../reports/schedules-store.ts';
import { cancelReport, deleteReport, generateReport, showReports, viewReport } from '../reports/service.ts';
import { listReports } from '../reports/store.ts';
import { allowed, router } from './procedures.ts';

const OWN =
  'That of another user requires the permission Manage Reports of Others, which administrators and operators have.';

export const reportsRouter = router({
  getAnalytics: allowed('viewReports')
    .meta({
      question: true,
      summary: 'Get the figures of an analytics page',
      notes:
        'The figures of `events.getStats` for the range, and others derived from them. Without a range, the last 30 days.',
    })
    .input(analyticsInput)
    .output(analytics)
    .query(({ ctx: { app }, input }) => getAnalytics(app, input)),

  getRepeatPlates: allowed('viewReports')
    .meta({
      question: true,
      summary: 'List the plates seen most often',
      notes:
        'The field `repeatPlates` of `reports.getAnalytics` by itself. Without a range, the last 30 days.',
    })
    .input(repeatPlatesInput)
    .output(repeatPlates)
    .query(({ ctx: { app }, input }) => getRepeatPlates(app, input)),

  getReports: allowed('viewReports')
    .meta({ question: true, summary: 'List requested reports, newest first' })
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
      summary: 'Get one report and its progress',
      notes:
        'When the report is DONE, download its file with GET from `url`, with the token in the Authorization header.',
    })
    .input(byId)
    .output(report)
    .query(({ ctx, input }) => viewReport(ctx, input.id)),

  generate: allowed('generateReports')
    .meta({
      summary: 'Request a report',
      notes:
        'The report is made shortly afterwards, even if the service restarts in the meantime. A CSV file contains all rows. XLSX is limited to 100,000 rows; a larger report is FAILED and says so. PDF contains the first 5,000 rows; for TRAFFIC, a summary of each place and 1,500 rows divided among the places. It names what it leaves out. EVENTS contains what `events.getAll` lists with the same filters and range, in the order of time. A filter by plate is recorded in the activity log, as a search for it is, with the `reason` if given.',
    })
    .input(generateReportInput)
    .output(report)
    .mutation(({ ctx, input }) => generateReport(ctx, input)),

  cancel: allowed('generateReports')
    .meta({
      summary: 'Cancel a report that is QUEUED or RUNNING',
      notes: `CONFLICT if it has already finished. ${OWN}`,
    })
    .input(byId)
    .output(report)
    .mutation(({ ctx, input }) => cancelReport(ctx, input.id)),

  delete: allowed('generateReports')
    .meta({ summary: 'Delete a report and its file', notes: OWN })
    .input(byId)
    .output(removedReport)
    .mutation(({ ctx, input }) => deleteReport(ctx, input.id)),

  getSchedules: allowed('viewReports')
    .meta({ summary: 'List report schedules, newest first' })
    .input(listSchedulesInput)
    .output(schedulesPage)
    .query(async ({ ctx: { app, actor }, input }) => {
      const { items, total } = await listSchedules(app.db, input);
      return {
        schedules: await showSchedules(app.db, items, actor),
        total,
        pageCount: pageCount(total, input.take),
      };
    }),

  createSchedule: allowed('generateReports')
    .meta({
      summary: 'Schedule a daily, weekly or monthly report',
      notes:
        'Each report covers the whole previous day, week (beginning on the first day of the week in the settings) or month. If several runs were missed while the service was down, only the last of them is made. A filter by plate is recorded in the activity log, as a search for it is. With `sendTo`, each report is sent by e-mail or put into a folder once it is DONE, and again after a failure for about a day; `lastSent` of the schedule says what became of it. A file of more than 10 MB is not attached; the e-mail says where to download it, which requires a login.',
    })
    .input(createScheduleInput)
    .output(reportSchedule)
    .mutation(({ ctx, input }) => createSchedule(ctx, input)),

  updateSchedule: allowed('generateReports')
    .meta({ summary: 'Change a schedule', notes: `Only the given fields change. ${OWN}` })
    .input(updateScheduleInput)
    .output(reportSchedule)
    .mutation(({ ctx, input }) => updateSchedule(ctx, input)),

  deleteSchedule: allowed('generateReports')
    .meta({ summary: 'Delete a schedule', notes: `Reports made by the schedule are kept. ${OWN}` })
    .input(byId)
    .output(removedReport)
    .mutation(({ ctx, input }) => deleteSchedule(ctx, input.id)),
});
