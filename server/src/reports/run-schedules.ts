import type { ReportKind } from '@gantry/contract/reports';
import { reportKinds } from '@gantry/contract/values';
import type { Logger } from 'pino';
import { readDatabaseTime } from '../platform/database/moment.ts';
import type { Database } from '../platform/database/pool.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { getTimezoneSettings } from '../system/store.ts';
import { lastRun, nextRun, nextRunInZone, periodBefore } from './recurrence.ts';
import { isAnyToRun, takeDueSchedule, takeWronglyPlanned, updateScheduleRow } from './schedules-store.ts';
import { insertScheduledReport } from './store.ts';

/**
 * Requests the reports of all schedules that are due, each in a transaction of its own and by one process only.
 * @param among the kinds of reports; schedules of other kinds stay due
 */
export async function runDueSchedules(
  db: Database,
  log: Logger,
  among: readonly ReportKind[] = reportKinds,
): Promise<void> {
  if (!(await isAnyToRun(db))) return;
  const byItsClock = (work: (tx: Transaction, now: number) => Promise<boolean>): Promise<boolean> =>
    inTransaction(db, async (tx) => work(tx, await readDatabaseTime(tx)));
  while (await byItsClock(moveOne));
  let made = 0;
  while (await byItsClock((tx, now) => runOne(tx, now, among))) made++;
  if (made > 0) log.info({ reports: made }, 'scheduled reports were requested');
}

/**
 * Requests the report of one schedule that is due. If several runs were missed, only the last is made up for.
 * @returns whether there was one
 */
async function runOne(tx: Transaction, now: number, among: readonly ReportKind[]): Promise<boolean> {
  const settings = await getTimezoneSettings(tx);
  const schedule = await takeDueSchedule(tx, settings.timezone, among);
  if (!schedule) return false;
  const { id: scheduleId, kind, format, filters, csv, createdBy, sendTo } = schedule;
  // The query that found it due used the same clock a moment earlier.
  const at = Math.max(now, schedule.nextRunAt?.getTime() ?? now);
  const due = lastRun(schedule, settings.timezone, at);
  const { from, until } = periodBefore(schedule, due, settings);
  const range = { startsAt: new Date(from), endsAt: new Date(until) };
  await insertScheduledReport(tx, {
    ...range,
    kind,
    format,
    filters,
    csv,
    settings,
    createdBy,
    hidesPlates: schedule.hidesPlates || (sendTo !== null && !sendTo.withPlates),
    scheduleId,
    dueAt: new Date(due),
  });
  await updateScheduleRow(tx, scheduleId, {
    timezone: settings.timezone,
    lastRunAt: new Date(due),
    nextRunAt: new Date(nextRun(schedule, settings.timezone, at)),
  });
  return true;
}

/** Recomputes the next run of one schedule after a change of the time zone or of the clock. @returns whether there was one */
async function moveOne(tx: Transaction, now: number): Promise<boolean> {
  const { timezone } = await getTimezoneSettings(tx);
  const schedule = await takeWronglyPlanned(tx, timezone);
  if (!schedule) return false;
  const last = schedule.lastRunAt?.getTime();
  if (last !== undefined && last > now) {
    const nextRunAt = schedule.enabled ? new Date(nextRun(schedule, timezone, now)) : null;
    await updateScheduleRow(tx, schedule.id, { timezone, lastRunAt: null, nextRunAt });
    return true;
  }
  const zones = { from: schedule.timezone, to: timezone };
  const planned = schedule.enabled ? schedule.nextRunAt : null;
  const nextRunAt =
    planned && new Date(nextRunInZone(schedule, { planned: planned.getTime(), last }, zones, now));
  await updateScheduleRow(tx, schedule.id, { timezone, nextRunAt });
  return true;
}
