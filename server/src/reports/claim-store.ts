import { and, eq, sql } from 'drizzle-orm';
import { reports } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { claimableIds } from '../platform/jobs/claim.ts';
import type { ReportRow } from './store.ts';

/** How often a report is begun: after that it is taken for what brings its process down. */
const MOST_ATTEMPTS = 5;

/** Takes up to `most` of the reports that wait, the oldest first, for this process alone. */
export function claimReports(db: Executor, most: number): Promise<ReportRow[]> {
  const due = sql`status = 'QUEUED'`;
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

/** One attempt at a report, as the process that makes it names it. */
export type Attempt = Pick<ReportRow, 'id' | 'attempts'>;

/** Says how far it is. @returns whether it is still to go on: nobody cancelled or removed it, or took it over */
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

/** What an attempt came to. */
export type Outcome =
  | { status: 'DONE'; fileKey: string; size: number; rowCount: number }
  | { status: 'FAILED'; error: string };

/** Notes what it came to. @returns whether that counts: nobody cancelled or removed it before */
export async function settleReport(db: Executor, attempt: Attempt, outcome: Outcome): Promise<boolean> {
  const { rowCount: changed } = await db
    .update(reports)
    .set({ ...outcome, finishedAt: sql`now()`, ...(outcome.status === 'DONE' && { progress: 1 }) })
    .where(isUnderWay(attempt));
  return changed === 1;
}

/** Gives a report back that this process cannot finish, without its having counted. */
export async function releaseReport(db: Executor, attempt: Attempt): Promise<void> {
  await db
    .update(reports)
    .set({ status: 'QUEUED', attempts: sql`${reports.attempts} - 1`, progress: 0, rowCount: 0 })
    .where(isUnderWay(attempt));
}

/**
 * Has reports begun anew whose process gave no sign of life for so long. Those that were begun too often fail.
 * @param deadMs in milliseconds
 */
export async function requeueAbandonedReports(db: Executor, deadMs: number): Promise<void> {
  const isGivenUp = sql`${reports.attempts} >= ${MOST_ATTEMPTS}`;
  await db
    .update(reports)
    .set({
      status: sql`CASE WHEN ${isGivenUp} THEN 'FAILED' ELSE 'QUEUED' END`,
      error: sql`CASE WHEN ${isGivenUp} THEN 'The service ended while it made this report, several times' END`,
      finishedAt: sql`CASE WHEN ${isGivenUp} THEN now() END`,
      progress: 0,
      rowCount: 0,
    })
    .where(sql`status = 'RUNNING' AND alive_at < now() - ${deadMs} * interval '1 millisecond'`);
}

function isUnderWay({ id, attempts }: Attempt) {
  return and(eq(reports.id, id), eq(reports.attempts, attempts), eq(reports.status, 'RUNNING'));
}
