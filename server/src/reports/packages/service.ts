import type { Readable } from 'node:stream';
import type { CaseExportDetail, ExportCaseInput } from '@gantry/contract/cases';
import { permissionNames } from '@gantry/contract/permissions';
import { findNames } from '../../accounts/names-store.ts';
import { callerAs, requirePermission, signIn } from '../../accounts/session.ts';
import type { AuthServices } from '../../accounts/start.ts';
import { recordActivity } from '../../activity/store.ts';
import { lockForMove, recordCase } from '../../cases/change.ts';
import {
  countDownload,
  type ExportRow,
  fileNameOfExport,
  getExportRow,
  insertExport,
  viewExport,
} from '../../cases/exports-store.ts';
import { isImage, listItems } from '../../cases/items-store.ts';
import { redactedItems } from '../../cases/redaction.ts';
import { lockCaseIfAny } from '../../cases/store.ts';
import { requireSeesPlates } from '../../events/plate-access.ts';
import type { ActorContext, Core, RequestContext } from '../../platform/context.ts';
import { inTransaction } from '../../platform/database/transaction.ts';
import { AppError } from '../../platform/error.ts';
import type { RealtimeServices } from '../../realtime/start.ts';
import type { PackageServices } from './start.ts';
import { requireSize } from './write.ts';

/**
 * Requests the package of a verified case, which is made shortly afterwards.
 * @throws AppError `notFound`; `conflict` when the case is not verified, its files are too large, or nothing of it was redacted;
 * `tooManyRequests` when too many packages are waiting
 */
export async function requestExport(
  ctx: ActorContext,
  { redacted, ...wanted }: ExportCaseInput,
): Promise<{ exportId: string }> {
  const { app, actor, caller } = ctx;
  requireSeesPlates(ctx);
  return inTransaction(app.db, async (tx) => {
    const row = await lockForMove(tx, wanted, 'export');
    const items = await listItems(tx, row.id);
    const shown = redacted ? redactedItems(items) : items;
    if (redacted && items.some(isImage) && !shown.some(({ derivedFrom }) => derivedFrom !== null))
      throw new AppError(
        'conflict',
        `Case ${row.number} has no redacted image: unlock it, and add a copy of an image in which something is made unrecognisable`,
      );
    requireSize(row.number, shown);
    const created = await insertExport(tx, {
      caseId: row.id,
      caseNumber: row.number,
      caseVersion: row.version,
      redacted,
      createdBy: actor.id,
    });
    const details = { caseId: row.id, case: row.number, exportId: created.id, redacted };
    await recordActivity(tx, actor.id, caller, 'cases.export', details);
    return { exportId: created.id };
  });
}

/** A package with its manifest, which is kept for ever. @throws AppError `notFound` */
export async function getExport({ app: { db } }: ActorContext, exportId: string): Promise<CaseExportDetail> {
  const row = await getExportRow(db, exportId);
  const { manifest, signature } = row;
  return {
    ...viewExport(row, await findNames(db, [row.createdBy])),
    manifest:
      manifest && signature
        ? { text: manifest.toString('utf8'), signature: signature.toString('base64') }
        : null,
  };
}

/** The file of a package, ready to be sent. */
interface FetchedPackage {
  readonly name: string;
  readonly size: number;
  readonly stream: Readable;
}

/**
 * Opens the file of a package for a user who verifies cases. The download is counted, and recorded in the log of the case.
 * @throws AppError `unauthorized`, `forbidden`; `notFound` when there is no such package, or its file is not on this
 * machine; `conflict` when it is not complete, or its time is over
 */
export async function openPackage(
  ctx: RequestContext<Core & AuthServices & PackageServices & Pick<RealtimeServices, 'outbox'>>,
  exportId: string,
): Promise<FetchedPackage> {
  const { app } = ctx;
  const actor = await signIn(ctx);
  requirePermission(actor, 'verifyCases', permissionNames.verifyCases);
  requireSeesPlates({ ...ctx, actor });
  const row = await getExportRow(app.db, exportId);
  if (row.fileKey === null)
    throw new AppError(
      'conflict',
      row.status === 'DONE'
        ? 'The file of this package was removed after 30 days: export the case again'
        : `The package is ${row.status}, so it has no file`,
    );
  const file = await app.packageFiles.open(row.fileKey);
  if (!file)
    throw new AppError(
      'notFound',
      'The file of this package is not on this machine: it is in the data folder of the machine that made it',
    );
  try {
    await recordDownload({ ...ctx, actor, caller: callerAs(ctx.caller, actor) }, row);
  } catch (error) {
    file.stream.destroy();
    throw error;
  }
  return { ...file, name: fileNameOfExport(row) };
}

function recordDownload(
  { app, actor, caller }: ActorContext<Core & Pick<RealtimeServices, 'outbox'>>,
  row: ExportRow,
): Promise<void> {
  const { id: exportId, caseId, caseNumber, redacted } = row;
  return inTransaction(app.db, async (tx) => {
    // The case may have been removed after its time; its packages are kept for 30 days in any case.
    const found = await lockCaseIfAny(tx, caseId);
    await countDownload(tx, exportId);
    const details = { caseId, case: caseNumber, exportId, redacted };
    await recordActivity(tx, actor.id, caller, 'cases.download', details);
    if (found) await recordCase(app, tx, found, actor.id, 'downloaded', { exportId });
  });
}
