import { join } from 'node:path';
import { recordCase } from '../../cases/change.ts';
import {
  claimExports,
  type ExportRow,
  failExport,
  type MadePackage,
  noteExportProgress,
  releaseExport,
  settleExport,
} from '../../cases/exports-store.ts';
import { lockCase, updateCase } from '../../cases/store.ts';
import { CHECKPOINTS, type EvidenceServices } from '../../evidence/start.ts';
import { insertKey, readLastSeal } from '../../evidence/store.ts';
import type { ImageServices } from '../../images/start.ts';
import type { Core } from '../../platform/context.ts';
import { createJobRunner, type JobRunner, whileAlive } from '../../platform/database/jobs.ts';
import { readDatabaseTime } from '../../platform/database/moment.ts';
import { inTransaction } from '../../platform/database/transaction.ts';
import { AppError } from '../../platform/error.ts';
import type { RealtimeServices } from '../../realtime/start.ts';
import type { ReportFiles } from '../files.ts';
import { drawCase, ReportFailure, verifyInThread } from '../thread.ts';
import { documentOf, imagesToDraw } from './case-document.ts';
import { type PackageContents, readContents, requireExportable } from './contents.ts';
import { requireSize, writePackage } from './write.ts';

export type PackagesContext = Core & EvidenceServices & ImageServices & Pick<RealtimeServices, 'outbox'>;

/** The share of the work that is done when the images are written. */
const SHARE_OF_IMAGES = 0.8;

/** The file of a package in the data folder. */
export function keyOfPackage({ id, attempts }: Pick<ExportRow, 'id' | 'attempts'>): string {
  return `${id}-${attempts}.zip`;
}

/** Makes waiting packages, one at a time in each process. @param folder of the files */
export function createPackageRunner(app: PackagesContext, files: ReportFiles, folder: string): JobRunner {
  return createJobRunner<ExportRow>({
    concurrency: 1,
    log: app.log,
    failure: 'evidence packages cannot be made now; the next sweep will try again',
    claim: (_, most) => claimExports(app.db, most),
    perform: (row, ending) => perform(app, { files, folder, row, progress: { share: 0 } }, ending),
  });
}

function perform(app: PackagesContext, job: Omit<Making, 'signal'>, ending: AbortSignal): Promise<void> {
  const { db, log } = app;
  const { files, row, progress } = job;
  const note = () => noteExportProgress(db, row, progress.share);
  const onFailure = (err: unknown) =>
    log.debug({ err, exportId: row.id }, 'the progress could not be recorded');
  return whileAlive({ note, onFailure, ending }, async (signal) => {
    try {
      const made = await makePackage(app, { ...job, signal });
      if (!(await settle(app, row, made))) await files.remove(made.fileKey);
    } catch (error) {
      await files.remove(keyOfPackage(row));
      if (signal.aborted) await releaseExport(db, row);
      else await settleFailure(app, row, error);
    }
  });
}

/** What the caller can change is recorded as a sentence; otherwise another attempt follows, or the log has the cause. */
async function settleFailure({ db, log }: PackagesContext, row: ExportRow, error: unknown): Promise<void> {
  const isRefused = error instanceof ReportFailure && error.failure === 'refused';
  const isForCaller = isRefused || (error instanceof AppError && error.kind !== 'unavailable');
  if (!isForCaller) log.warn({ err: error, exportId: row.id }, 'an evidence package could not be made');
  const isPassing = error instanceof ReportFailure && error.failure === 'passing';
  // It becomes due again when its process has shown no liveness for some time.
  if (isPassing || (error instanceof AppError && error.kind === 'unavailable')) return;
  const message = isForCaller
    ? error.message
    : 'The package could not be made; the log of the service has the cause';
  await failExport(db, row, message);
}

interface Making {
  readonly files: ReportFiles;
  readonly folder: string;
  readonly row: ExportRow;
  readonly progress: { share: number };
  readonly signal: AbortSignal;
}

async function makePackage(
  app: PackagesContext,
  { files, folder, row, progress, signal }: Making,
): Promise<MadePackage> {
  const { db, config, sealNow, sealingKey: key } = app;
  await sealNow();
  await publishKey(app);
  const contents = await readContents({ db, checkpoints: join(config.DATA_DIR, CHECKPOINTS) }, row);
  requireSize(
    contents.case.number,
    contents.files.map(({ item }) => item),
  );
  const read = (sha256: string) => readImage(app, contents, sha256);
  const madeAt = await readDatabaseTime(db);
  const { id, redacted } = row;
  const pdf = await drawPages(app, { contents, read, madeAt, files, folder, row, signal });
  progress.share = 1 - SHARE_OF_IMAGES;
  const onProgress = (share: number) => {
    progress.share = 1 - SHARE_OF_IMAGES + share * SHARE_OF_IMAGES;
  };
  const parts = { key, madeAt, id, redacted, read, pdf, onProgress, signal };
  const fileKey = keyOfPackage(row);
  const { result } = await files.write(fileKey, (to) => writePackage(contents, parts, to));
  await verifyInThread(join(folder, fileKey), signal);
  return { fileKey, ...result };
}

/** The key of a package is published with those of seals, also if nothing was sealed with it. */
async function publishKey({ db, sealingKey: { id, publicKey } }: PackagesContext): Promise<void> {
  const { keyId } = await readLastSeal(db);
  await insertKey(db, { id, publicKey, replaces: keyId === id ? null : keyId });
}

/** The bytes of an image, which have its hash. @throws AppError `conflict` that names it if they are missing or changed */
async function readImage(
  { images }: PackagesContext,
  { case: row }: PackageContents,
  sha256: string,
): Promise<Buffer> {
  const bytes = await images.readIfWhole(sha256);
  if (bytes) return bytes;
  throw new AppError(
    'conflict',
    `Image ${sha256} of case ${row.number} is missing or damaged: ask the administrator to restore it from a backup`,
  );
}

async function drawPages(
  { settings, sealingKey }: PackagesContext,
  {
    contents,
    read,
    madeAt,
    files,
    folder,
    row: { id, attempts, redacted },
    signal,
  }: Omit<Making, 'progress'> & {
    readonly contents: PackageContents;
    readonly read: (sha256: string) => Promise<Buffer>;
    readonly madeAt: number;
  },
): Promise<Buffer> {
  const images = new Map<ReturnType<typeof imagesToDraw>[number], Buffer>();
  for (const file of imagesToDraw(contents)) images.set(file, await read(file.item.sha256 ?? ''));
  const caseDocument = documentOf(contents, {
    ...{ id, redacted, madeAt, images },
    keyId: sealingKey.id,
    settings: settings.current(),
  });
  const fileKey = `${id}-${attempts}.pdf`;
  try {
    await drawCase({ folder, fileKey, caseDocument }, signal);
    return await files.read(fileKey);
  } finally {
    await files.remove(fileKey);
  }
}

/**
 * Records the package, and the case as EXPORTED.
 * @returns false if another process has taken over
 * @throws AppError `conflict` if the case was unlocked meanwhile
 */
function settle(app: PackagesContext, row: ExportRow, made: MadePackage): Promise<boolean> {
  return inTransaction(app.db, async (tx) => {
    const before = await lockCase(tx, row.caseId);
    requireExportable(before, row);
    if (!(await settleExport(tx, row, made))) return false;
    const after = before.state === 'EXPORTED' ? before : await updateCase(tx, before, { state: 'EXPORTED' });
    if (!after) throw new Error('A case that is locked was changed');
    const { id: exportId, redacted, createdBy } = row;
    const details = { exportId, redacted, bytes: made.bytes, sha256: made.sha256.toString('hex') };
    await recordCase(app, tx, after, createdBy, 'exported', details);
    return true;
  });
}
