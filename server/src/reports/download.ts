import type { Readable } from 'node:stream';
import { permissionNames } from '@gantry/contract/permissions';
import { callerAs, requirePermission, signIn } from '../accounts/session.ts';
import type { AuthServices } from '../accounts/start.ts';
import { recordReportDownload } from '../activity/store.ts';
import { requireSeesPlates } from '../events/plate-access.ts';
import type { Core, RequestContext } from '../platform/context.ts';
import { AppError } from '../platform/error.ts';
import { requireFeature } from '../system/features.ts';
import { contentTypes, fileNameOf } from './files.ts';
import { showsPlates } from './kinds.ts';
import { requireKindPermission } from './service.ts';
import type { ReportServices } from './start.ts';
import { getReportRow } from './store.ts';

/** The file of a report, ready to be sent. */
interface FetchedFile {
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  readonly stream: Readable;
}

/**
 * Opens the file of a report for a user who may view reports, and records it in the activity log.
 * @throws AppError `unauthorized`, `forbidden`; `notFound` when there is no such report, or its file is not on this
 * machine; `conflict` when it is not complete
 */
export async function openReportFile(
  ctx: RequestContext<Core & AuthServices & ReportServices>,
  id: string,
): Promise<FetchedFile> {
  const { app } = ctx;
  const actor = await signIn(ctx);
  requirePermission(actor, 'viewReports', permissionNames.viewReports);
  requireFeature(app.config, 'reports.getById', 'query');
  const row = await getReportRow(app.db, id);
  requireKindPermission(actor, row.kind);
  if (!row.hidesPlates && showsPlates(row.kind)) requireSeesPlates({ ...ctx, actor });
  if (row.fileKey === null) throw new AppError('conflict', `The report is ${row.status}, so it has no file`);
  const file = await app.reportFiles.open(row.fileKey);
  if (!file) {
    throw new AppError(
      'notFound',
      'The file of this report is not on this machine: it is in the data folder of the machine that made the report',
    );
  }
  try {
    const { kind, format } = row;
    await recordReportDownload(app.db, actor.id, callerAs(ctx.caller, actor), {
      reportId: row.id,
      kind,
      format,
    });
  } catch (error) {
    file.stream.destroy();
    throw error;
  }
  return { ...file, name: fileNameOf(row), contentType: contentTypes[row.format] };
}
