import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { type ListReportsInput, MAX_UNFINISHED_REPORTS } from '@gantry/contract/reports';
import { and, count, desc, eq, inArray, sql } from 'drizzle-orm';
import { channels, notify } from '../platform/database/notify.ts';
import { reports } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { AppError, notFound } from '../platform/error.ts';

export type ReportRow = typeof reports.$inferSelect;
export type NewReport = Pick<
  ReportRow,
  'kind' | 'format' | 'filters' | 'startsAt' | 'endsAt' | 'settings' | 'createdBy'
> &
  Partial<Pick<ReportRow, 'scheduleId' | 'dueAt' | 'hidesPlates' | 'csv'>>;

const unfinished = inArray(reports.status, ['QUEUED', 'RUNNING']);

/** Requests a report, which is generated after the transaction commits. */
export async function insertReport(tx: Transaction, report: NewReport): Promise<ReportRow> {
  const [row] = await tx.insert(reports).values(report).returning();
  if (!row) throw new Error('PostgreSQL did not return the inserted report');
  await notify(tx, channels.reports, '');
  return row;
}

/** Requests the report of a schedule, unless it was requested before for the same time. */
export async function insertScheduledReport(
  tx: Transaction,
  report: NewReport & { readonly scheduleId: string; readonly dueAt: Date },
): Promise<void> {
  await tx
    .insert(reports)
    .values(report)
    .onConflictDoNothing({ target: [reports.scheduleId, reports.dueAt] });
  await notify(tx, channels.reports, '');
}

/** @throws AppError `tooManyRequests` when the maximum number of reports is waiting or in progress */
export async function requireQueueSpace(tx: Executor): Promise<void> {
  const [counted] = await tx.select({ n: count() }).from(reports).where(unfinished);
  if ((counted?.n ?? 0) < MAX_UNFINISHED_REPORTS) return;
  throw new AppError(
    'tooManyRequests',
    `${MAX_UNFINISHED_REPORTS} reports are waiting or under way: wait for one, or cancel it`,
    { retryAfterSeconds: 30 },
  );
}

/** @throws AppError `notFound` */
export async function getReportRow(db: Executor, id: string): Promise<ReportRow> {
  const [row] = isUuid(id) ? await db.select().from(reports).where(eq(reports.id, id)) : [];
  if (!row) throw notFound('Report');
  return row;
}

/** One page of the reports, newest first. */
export async function listReports(
  db: Executor,
  { kind, status, skip, take }: ListReportsInput,
): Promise<Page<ReportRow>> {
  const wanted = and(kind && eq(reports.kind, kind), status && eq(reports.status, status));
  const items = await db
    .select()
    .from(reports)
    .where(wanted)
    .orderBy(desc(reports.createdAt), desc(reports.id))
    .limit(take)
    .offset(skip);
  const [counted] = await db.select({ total: count() }).from(reports).where(wanted);
  return { items, total: counted?.total ?? 0 };
}

/**
 * Cancels an unfinished report. If it finishes at the same time, whichever comes first counts.
 * @throws AppError `notFound`; `conflict` when it is finished
 */
export async function cancelReportRow(tx: Executor, id: string): Promise<ReportRow> {
  const [row] = isUuid(id)
    ? await tx
        .update(reports)
        .set({ status: 'CANCELLED', finishedAt: sql`now()` })
        .where(and(eq(reports.id, id), unfinished))
        .returning()
    : [];
  if (row) return row;
  const { status } = await getReportRow(tx, id);
  throw new AppError('conflict', `The report is ${status} already, so there is nothing to cancel`);
}

/**
 * Deletes a report.
 * @returns the deleted row
 * @throws AppError `notFound`
 */
export async function deleteReportRow(tx: Executor, id: string): Promise<ReportRow> {
  const [row] = isUuid(id) ? await tx.delete(reports).where(eq(reports.id, id)).returning() : [];
  if (!row) throw notFound('Report');
  return row;
}

/** Those of the file keys that belong to a report. */
export async function findKeysInUse(db: Executor, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const rows =
    keys.length === 0
      ? []
      : await db
          .select({ key: reports.fileKey })
          .from(reports)
          .where(inArray(reports.fileKey, [...keys]));
  return new Set(rows.flatMap(({ key }) => (key === null ? [] : [key])));
}
