import type { CaseExport } from '@gantry/contract/cases';
import { DAY_MS } from '@gantry/contract/durations';
import { isUuid } from '@gantry/contract/id';
import { and, eq, sql } from 'drizzle-orm';
import type { NameOf } from '../accounts/names-store.ts';
import { claimableIds, isAbandoned, requeued } from '../platform/database/jobs.ts';
import { channels, notify } from '../platform/database/notify.ts';
import { caseExports } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { AppError, found } from '../platform/error.ts';

export type ExportRow = typeof caseExports.$inferSelect;

/** How long the file of a package is kept, in milliseconds. */
const KEPT_MS = 30 * DAY_MS;

/** Maximum number of packages that wait or are under way. */
const MAX_UNFINISHED = 20;

const isUnfinished = sql`status IN ('QUEUED', 'RUNNING')`;

/**
 * Requests a package, which is made after the transaction commits.
 * @throws AppError `tooManyRequests` when the maximum number of packages is waiting
 */
export async function insertExport(
  tx: Transaction,
  row: Pick<ExportRow, 'caseId' | 'caseNumber' | 'caseVersion' | 'redacted' | 'createdBy'>,
): Promise<ExportRow> {
  if ((await tx.$count(caseExports, isUnfinished)) >= MAX_UNFINISHED)
    throw new AppError(
      'tooManyRequests',
      `${MAX_UNFINISHED} packages are waiting or under way: wait for one`,
      {
        retryAfterSeconds: 30,
      },
    );
  const rows = await tx.insert(caseExports).values(row).returning();
  await notify(tx, channels.packages, '');
  return found(rows, 'Package');
}

/** @throws AppError `notFound` */
export async function getExportRow(db: Executor, id: string): Promise<ExportRow> {
  return found(
    isUuid(id) ? await db.select().from(caseExports).where(eq(caseExports.id, id)) : [],
    'Package',
  );
}

/** The packages of a case, the first one first. */
export function listExports(db: Executor, caseId: string): Promise<ExportRow[]> {
  return db
    .select()
    .from(caseExports)
    .where(eq(caseExports.caseId, caseId))
    .orderBy(caseExports.createdAt, caseExports.id);
}

/** Where the file of a package is served. */
const urlOf = (id: string): string => `/cases/exports/${id}/file`;

/** The name of the file of a package. */
export function fileNameOfExport({
  caseNumber,
  redacted,
}: Pick<ExportRow, 'caseNumber' | 'redacted'>): string {
  return `case-${caseNumber}${redacted ? '-redacted' : ''}.zip`;
}

/** A package as callers may read it. */
export function viewExport(row: ExportRow, nameOf: NameOf): CaseExport {
  const hasFile = row.fileKey !== null;
  return {
    id: row.id,
    caseId: row.caseId,
    number: row.caseNumber,
    version: row.caseVersion,
    redacted: row.redacted,
    status: row.status,
    progress: row.progress,
    error: row.error,
    createdAt: row.createdAt,
    by: nameOf(row.createdBy),
    finishedAt: row.finishedAt,
    sha256: row.sha256?.toString('hex') ?? null,
    bytes: row.bytes,
    expiresAt: row.expiresAt,
    fileName: hasFile ? fileNameOfExport(row) : null,
    url: hasFile ? urlOf(row.id) : null,
    downloads: row.downloads,
  };
}

/** Claims up to `most` waiting packages for this process, the oldest first. */
export function claimExports(db: Executor, most: number): Promise<ExportRow[]> {
  const ids = claimableIds(caseExports, { due: sql`status = 'QUEUED'`, order: sql`created_at, id`, most });
  return db
    .update(caseExports)
    .set({ status: 'RUNNING', attempts: sql`${caseExports.attempts} + 1`, aliveAt: sql`now()`, progress: 0 })
    .where(sql`${caseExports.id} = ANY (${ids})`)
    .returning();
}

/** One attempt at a package, by which its process identifies it. */
type Attempt = Pick<ExportRow, 'id' | 'attempts'>;

const isUnderWay = ({ id, attempts }: Attempt) =>
  and(eq(caseExports.id, id), eq(caseExports.attempts, attempts), eq(caseExports.status, 'RUNNING'));

/** Records the progress, from 0 to 1. @returns false if another process has taken over */
export async function noteExportProgress(db: Executor, attempt: Attempt, progress: number): Promise<boolean> {
  const { rowCount } = await db
    .update(caseExports)
    .set({ progress, aliveAt: sql`now()` })
    .where(isUnderWay(attempt));
  return rowCount === 1;
}

/** What was made. */
export interface MadePackage {
  readonly fileKey: string;
  readonly bytes: number;
  readonly sha256: Buffer;
  readonly manifest: Buffer;
  readonly signature: Buffer;
}

/** Records the package. @returns false if another process has taken over */
export async function settleExport(tx: Transaction, attempt: Attempt, made: MadePackage): Promise<boolean> {
  const { rowCount } = await tx
    .update(caseExports)
    .set({
      ...made,
      status: 'DONE',
      progress: 1,
      finishedAt: sql`now()`,
      expiresAt: sql`now() + ${KEPT_MS} * interval '1 millisecond'`,
    })
    .where(isUnderWay(attempt));
  return rowCount === 1;
}

/** Records why a package could not be made, as a sentence. */
export async function failExport(db: Executor, attempt: Attempt, error: string): Promise<void> {
  await db
    .update(caseExports)
    .set({ status: 'FAILED', error, finishedAt: sql`now()` })
    .where(isUnderWay(attempt));
}

/** Returns a package that this process cannot finish, without counting the attempt. */
export async function releaseExport(db: Executor, attempt: Attempt): Promise<void> {
  await db
    .update(caseExports)
    .set({ status: 'QUEUED', progress: 0, attempts: sql`${caseExports.attempts} - 1` })
    .where(isUnderWay(attempt));
}

/**
 * Requeues packages whose process has shown no liveness for some time. Those with too many attempts fail.
 * @param deadMs in milliseconds
 */
export async function requeueAbandonedExports(db: Executor, deadMs: number): Promise<void> {
  await db.update(caseExports).set(requeued(caseExports.attempts)).where(isAbandoned(deadMs));
}

/** Whether any package is waiting or under way. */
export async function hasOpenExports(db: Executor): Promise<boolean> {
  return (await db.$count(caseExports, isUnfinished)) > 0;
}

/** Counts a download. */
export async function countDownload(tx: Transaction, id: string): Promise<void> {
  await tx
    .update(caseExports)
    .set({ downloads: sql`${caseExports.downloads} + 1` })
    .where(eq(caseExports.id, id));
}

/**
 * Gives up the files whose time is over, and packages that could not be made.
 * @returns the keys of the files
 */
export async function expireExports(db: Executor): Promise<string[]> {
  await db
    .delete(caseExports)
    .where(sql`status = 'FAILED' AND created_at < now() - ${KEPT_MS} * interval '1 millisecond'`);
  // Plan: case_exports_by_expiry.
  const { rows } = await db.execute<{ key: string }>(sql`
    WITH due AS (SELECT id, file_key FROM case_exports WHERE file_key IS NOT NULL AND expires_at < now() FOR NO KEY UPDATE)
    UPDATE case_exports SET file_key = NULL FROM due WHERE case_exports.id = due.id RETURNING due.file_key AS key`);
  return rows.map(({ key }) => key);
}

/** Those of the file keys that belong to a package. */
export async function findPackageKeys(db: Executor, keys: readonly string[]): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set();
  const rows = await db
    .select({ key: caseExports.fileKey })
    .from(caseExports)
    .where(sql`file_key = ANY (${sql.param([...keys])}::text[])`);
  return new Set(rows.flatMap(({ key }) => key ?? []));
}
