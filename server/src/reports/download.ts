import type { Readable } from 'node:stream';
import { permissionNames } from '@gantry/contract/permissions';
import type { ReportFileKind, ReportFormat } from '@gantry/contract/reports';
import { DateTime } from 'luxon';
import { callerAs, requirePermission, signIn } from '../accounts/session.ts';
import type { AuthServices } from '../accounts/start.ts';
import { recordReportDownload } from '../activity/store.ts';
import { requireSeesPlates } from '../events/plate-access.ts';
import type { Core, RequestContext } from '../platform/context.ts';
import { AppError } from '../platform/error.ts';
import { requireFeature } from '../system/features.ts';
import { showsPlates } from './kinds.ts';
import type { ReportServices } from './start.ts';
import { getReportRow } from './store.ts';

interface Named {
  readonly kind: ReportFileKind;
  readonly format: ReportFormat;
  readonly startsAt: Date;
  readonly endsAt: Date;
  readonly settings: { readonly timezone: string };
}

/** The first and the last day of a report, such as 2026-01-31; one if they are the same. */
export function daysOf({ startsAt, endsAt, settings }: Pick<Named, 'startsAt' | 'endsAt' | 'settings'>) {
  const days = [startsAt.getTime(), endsAt.getTime() - 1].map((moment) =>
    DateTime.fromMillis(moment, { zone: settings.timezone }).toFormat('yyyy-MM-dd'),
  );
  return [...new Set(days)];
}

/** The file name of a report, with its kind and its days. */
export function fileNameOf({ kind, format, ...range }: Named): string {
  return `${kind.toLowerCase().replaceAll('_', '-')}_${daysOf(range).join('_')}.${format.toLowerCase()}`;
}

/**
 * The media type of each format. Separate from the writers, which take long to load and are needed only in the
 * thread.
 */
export const contentTypes: Readonly<Record<ReportFormat, string>> = {
  CSV: 'text/csv; charset=utf-8',
  XLSX: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  PDF: 'application/pdf',
};

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
