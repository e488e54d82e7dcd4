import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { mayDo } from '@gantry/contract/permissions';
import {
  type ListSchedulesInput,
  MAX_REPORT_SCHEDULES,
  type ReportKind,
  type ReportSchedule,
} from '@gantry/contract/reports';
import { and, asc, count, desc, eq, gt, inArray, lte, ne, or, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import type { Actor } from '../platform/context.ts';
import { lockAdditions } from '../platform/database/locks.ts';
import { reportSchedules } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { AppError, notFound } from '../platform/error.ts';
import { findLastSent } from './dispatches-store.ts';

export type ScheduleRow = typeof reportSchedules.$inferSelect;
export type NewSchedule = typeof reportSchedules.$inferInsert;

/** Rows as the API returns them to a user, with the names of users. */
export async function showSchedules(
  db: Executor,
  rows: readonly ScheduleRow[],
  { id: userId, role }: Pick<Actor, 'id' | 'role'>,
): Promise<ReportSchedule[]> {
  const nameOf = await findNames(
    db,
    rows.map(({ createdBy }) => createdBy),
  );
  // Addresses are shown to those who may change them.
  const shows = ({ sendTo, createdBy }: ScheduleRow): boolean =>
    sendTo !== null && (createdBy === userId || mayDo(role, 'manageReports'));
  const lastSent = await findLastSent(
    db,
    rows.filter(shows).map(({ id }) => id),
  );
  return rows.map((row) => ({
    ...row,
    createdBy: nameOf(row.createdBy),
    sendTo: shows(row) ? row.sendTo : null,
    lastSent: lastSent.get(row.id) ?? null,
  }));
}

/** @throws AppError `badRequest` when the maximum number of schedules is reached */
export async function insertSchedule(tx: Transaction, schedule: NewSchedule): Promise<ScheduleRow> {
  await lockAdditions(tx, 'report_schedules');
  const [counted] = await tx.select({ n: count() }).from(reportSchedules);
  if ((counted?.n ?? 0) >= MAX_REPORT_SCHEDULES) {
    throw new AppError('badRequest', `There are ${MAX_REPORT_SCHEDULES} schedules already: delete one first`);
  }
  return only(await tx.insert(reportSchedules).values(schedule).returning());
}

/** One page of the schedules, newest first. */
export async function listSchedules(
  db: Executor,
  { skip, take }: ListSchedulesInput,
): Promise<Page<ScheduleRow>> {
  const items = await db
    .select()
    .from(reportSchedules)
    .orderBy(desc(reportSchedules.createdAt), desc(reportSchedules.id))
    .limit(take)
    .offset(skip);
  const [counted] = await db.select({ total: count() }).from(reportSchedules);
  return { items, total: counted?.total ?? 0 };
}

/** Reads a schedule and locks it until the transaction ends. @throws AppError `notFound` */
export async function lockSchedule(tx: Transaction, id: string): Promise<ScheduleRow> {
  return only(
    isUuid(id) ? await tx.select().from(reportSchedules).where(eq(reportSchedules.id, id)).for('update') : [],
  );
}

/** @throws AppError `notFound` */
export async function updateScheduleRow(
  tx: Executor,
  id: string,
  fields: Partial<NewSchedule>,
): Promise<ScheduleRow> {
  return only(await tx.update(reportSchedules).set(fields).where(eq(reportSchedules.id, id)).returning());
}

/** @throws AppError `notFound` */
export async function deleteScheduleRow(tx: Executor, id: string): Promise<ScheduleRow> {
  return only(
    isUuid(id) ? await tx.delete(reportSchedules).where(eq(reportSchedules.id, id)).returning() : [],
  );
}

/** Whether there may be schedules that `takeDueSchedule` or `takeWronglyPlanned` find: mostly, there are none. */
export async function isAnyToRun(db: Executor): Promise<boolean> {
  const { rows } = await db.execute<{ found: boolean }>(sql`
    SELECT EXISTS (
      SELECT FROM report_schedules
      WHERE next_run_at <= now() OR last_run_at > now() + interval '1 day'
        OR timezone IS DISTINCT FROM (SELECT timezone FROM settings)
    ) AS found`);
  return rows[0]?.found === true;
}

/**
 * Locks a schedule of one of the kinds that is due in this time zone and not locked by another process; null when there
 * is none.
 */
export async function takeDueSchedule(
  tx: Transaction,
  timezone: string,
  among: readonly ReportKind[],
): Promise<ScheduleRow | null> {
  const [row] = await tx
    .select()
    .from(reportSchedules)
    .where(
      and(
        eq(reportSchedules.enabled, true),
        eq(reportSchedules.timezone, timezone),
        inArray(reportSchedules.kind, [...among]),
        lte(reportSchedules.nextRunAt, sql`now()`),
      ),
    )
    .orderBy(asc(reportSchedules.nextRunAt))
    .limit(1)
    .for('update', { skipLocked: true });
  return row ?? null;
}

/**
 * Locks a schedule whose next run was computed for another time zone, or by a clock that was ahead by more than a day;
 * null when there is none.
 */
export async function takeWronglyPlanned(tx: Transaction, timezone: string): Promise<ScheduleRow | null> {
  const [row] = await tx
    .select()
    .from(reportSchedules)
    .where(
      or(
        ne(reportSchedules.timezone, timezone),
        gt(reportSchedules.lastRunAt, sql`now() + interval '1 day'`),
      ),
    )
    .limit(1)
    .for('update', { skipLocked: true });
  return row ?? null;
}

function only([row]: readonly ScheduleRow[]): ScheduleRow {
  if (!row) throw notFound('Schedule');
  return row;
}
