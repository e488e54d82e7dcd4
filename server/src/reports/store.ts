import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { type ListReportsInput, MAX_UNFINISHED_REPORTS } from '@gantry/contract/reports';
import { and, count, desc, eq, inArray, sql } from 'drizzle-orm';
import { claimableIds, isAbandoned, requeued } from '../platform/database/jobs.ts';
import { channels, notify } from '../platform/database/notify.ts';
import type { Database } from '../platform/database/pool.ts';
import { reports, situationReportRows } from '../platform/database/tables.ts';
import { type Executor, inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, notFound } from '../platform/error.ts';
import { insertDispatches, insertSituationDispatches } from './dispatches-store.ts';

export type ReportRow = typeof reports.$inferSelect;
type NewReport = Pick<
  ReportRow,
  'kind' | 'format' | 'filters' | 'startsAt' | 'endsAt' | 'settings' | 'createdBy'
> &
  Partial<Pick<ReportRow, 'scheduleId' | 'studyId' | 'dueAt' | 'hidesPlates' | 'csv'>>;

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

/** How long reports of traffic wait until most events are rolled up: rolling up may fail, or an import may go on for longer. */
const WAIT_FOR_ROLL_UP = sql.raw(`interval '10 minutes'`);

const mayWaitForRollUp = sql`kind = 'TRAFFIC' AND created_at > now() - ${WAIT_FOR_ROLL_UP}`;

/** The ids of those of the reports that wait while many events are not rolled up. */
export async function findWaitingForRollUp(
  db: Executor,
  rows: readonly Pick<ReportRow, 'id' | 'kind' | 'status'>[],
): Promise<ReadonlySet<string>> {
  const queued = rows.filter(({ kind, status }) => kind === 'TRAFFIC' && status === 'QUEUED');
  if (queued.length === 0) return new Set();
  const found = await db
    .select({ id: reports.id })
    .from(reports)
    .where(
      and(
        inArray(
          reports.id,
          queued.map(({ id }) => id),
        ),
        mayWaitForRollUp,
      ),
    );
  return new Set(found.map(({ id }) => id));
}

/** Whether a report of traffic is waiting. */
export async function isTrafficQueued(db: Executor): Promise<boolean> {
  const { rows } = await db.execute<{ queued: boolean }>(
    sql`SELECT EXISTS (SELECT FROM reports WHERE status = 'QUEUED' AND kind = 'TRAFFIC') AS queued`,
  );
  return rows[0]?.queued ?? false;
}

/**
 * Claims up to `most` waiting reports for this process, the oldest first.
 * @param isTrafficReady whether most events are rolled up; otherwise reports of traffic let others go first
 */
export function claimReports(db: Executor, most: number, isTrafficReady: boolean): Promise<ReportRow[]> {
  const due = isTrafficReady ? sql`status = 'QUEUED'` : sql`status = 'QUEUED' AND NOT (${mayWaitForRollUp})`;
  const ids = claimableIds(reports, { due, order: sql`created_at, id`, most });
  return db
    .update(reports)
    .set({
      status: 'RUNNING',
      attempts: sql`${reports.attempts} + 1`,
      startedAt: sql`now()`,
      aliveAt: sql`now()`,
      progress: 0,
      rowCount: 0,
    })
    .where(sql`${reports.id} = ANY (${ids})`)
    .returning();
}

/** One attempt at a report, by which its process identifies it. */
type Attempt = Pick<ReportRow, 'id' | 'attempts'>;

/** Records the progress. @returns whether to continue; false when the report was cancelled, deleted or taken over */
export async function noteProgress(
  db: Executor,
  attempt: Attempt,
  { progress, rowCount }: { progress: number; rowCount: number },
): Promise<boolean> {
  const { rowCount: changed } = await db
    .update(reports)
    .set({ progress, rowCount, aliveAt: sql`now()` })
    .where(isUnderWay(attempt));
  return changed === 1;
}

/** The result of an attempt. */
type Outcome =
  | { status: 'DONE'; fileKey: string; size: number; rowCount: number }
  | { status: 'FAILED'; error: string };

/**
 * Records the result, and has the report of a schedule, or about a situation, sent.
 * @param sha256 of the file, if it may be a situation report, 64 hexadecimal digits
 * @returns whether it counts; false when the report was cancelled, deleted or taken over before
 */
export function settleReport(
  db: Database,
  attempt: Attempt,
  outcome: Outcome,
  sha256: string | null = null,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const [settled] = await tx
      .update(reports)
      .set({ ...outcome, finishedAt: sql`now()`, ...(outcome.status === 'DONE' && { progress: 1 }) })
      .where(isUnderWay(attempt))
      .returning({ id: reports.id, scheduleId: reports.scheduleId });
    if (settled && outcome.status === 'DONE') {
      if (settled.scheduleId !== null) await insertDispatches(tx, settled.id, settled.scheduleId);
      else if (sha256 !== null) await settleSituationReport(tx, settled.id, sha256);
    }
    return settled !== undefined;
  });
}

/** Records the hash of the file of a situation report, and has it sent; other reports are left alone. */
async function settleSituationReport(tx: Transaction, reportId: string, sha256: string): Promise<void> {
  const [row] = await tx
    .update(situationReportRows)
    .set({ sha256 })
    .where(eq(situationReportRows.reportId, reportId))
    .returning({ recipients: situationReportRows.recipients });
  await insertSituationDispatches(tx, reportId, row?.recipients ?? []);
}

/** Returns a report that this process cannot finish, without counting the attempt. */
export async function releaseReport(db: Executor, attempt: Attempt): Promise<void> {
  await db
    .update(reports)
    .set({ status: 'QUEUED', attempts: sql`${reports.attempts} - 1`, progress: 0, rowCount: 0 })
    .where(isUnderWay(attempt));
}

/** Whether any report is waiting or in progress. */
export async function hasOpenReports(db: Executor): Promise<boolean> {
  const { rows } = await db.execute<{ found: boolean }>(
    sql`SELECT EXISTS (SELECT FROM reports WHERE status IN ('QUEUED', 'RUNNING')) AS found`,
  );
  return rows[0]?.found === true;
}

/**
 * Requeues reports whose process has shown no liveness signal for some time. Those with too many attempts fail.
 * @param deadMs in milliseconds
 */
export async function requeueAbandonedReports(db: Executor, deadMs: number): Promise<void> {
  await db
    .update(reports)
    .set({ ...requeued(reports.attempts), rowCount: 0 })
    .where(isAbandoned(deadMs));
}

function isUnderWay({ id, attempts }: Attempt) {
  return and(eq(reports.id, id), eq(reports.attempts, attempts), eq(reports.status, 'RUNNING'));
}
