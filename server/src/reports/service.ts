import { isUuid } from '@gantry/contract/id';
import { mayDo, permissionNames } from '@gantry/contract/permissions';
import type { GenerateReportInput, Report, ReportFileKind, ReportFormat } from '@gantry/contract/reports';
import { findNames, type NameOf } from '../accounts/names-store.ts';
import { recordActivity } from '../activity/store.ts';
import { reasonIn, requirePlateSearch } from '../events/plate-access.ts';
import { recordPlateLookUp } from '../events/service.ts';
import { findLinks } from '../incidents/work-store.ts';
import type { Actor, ActorContext, Core } from '../platform/context.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { requireRange } from '../platform/time.ts';
import { requireFeature, requireReportKind } from '../system/features.ts';
import { rollUpBacklog } from '../traffic/roll-up.ts';
import { getStudyHead } from '../traffic/study/store.ts';
import { fileNameOf } from './files.ts';
import { findSituationReport } from './situation-store.ts';
import type { ReportServices } from './start.ts';
import {
  cancelReportRow,
  deleteReportRow,
  findWaitingForRollUp,
  getReportRow,
  insertReport,
  type ReportRow,
  requireQueueSpace,
} from './store.ts';

/**
 * Requires that a report or a schedule is the user's own, or that they may manage those of others.
 * @throws AppError `forbidden`
 */
export function requireOwnReport({ id, role }: Actor, createdBy: string): void {
  if (createdBy === id || mayDo(role, 'manageReports')) return;
  throw new AppError(
    'forbidden',
    `Only the user who created it, and users with the permission ${permissionNames.manageReports}, may change or remove it`,
  );
}

/**
 * The chronology of an incident has what only those may read who manage incidents.
 * @throws AppError `forbidden`
 */
export function requireKindPermission({ role }: Actor, kind: ReportFileKind): void {
  if (kind !== 'INCIDENT_CHRONOLOGY' || mayDo(role, 'manageIncidents')) return;
  throw new AppError('forbidden', `A chronology requires the permission ${permissionNames.manageIncidents}`);
}

/** @throws AppError `badRequest` for an incident that does not exist */
async function requireIncident(db: Executor, id: string): Promise<void> {
  if (!(await findLinks(db, [id])).has(id.toLowerCase()))
    throw invalidInput('filters.incidentId', 'No incident has this id: use the id of an existing one');
}

/** @throws AppError `notFound` */
export async function viewReport(ctx: ActorContext, id: string): Promise<Report> {
  return showOne(ctx, await getReportRow(ctx.app.db, id));
}

/**
 * Requests a report, which is generated shortly afterwards.
 * @throws AppError `badRequest` for an invalid range; `tooManyRequests` when too many reports are waiting; as
 * `requireReportKind` and `requirePlateSearch` do
 */
export async function generateReport(ctx: ActorContext, input: GenerateReportInput): Promise<Report> {
  const { app, actor, caller } = ctx;
  const settings = app.settings.current();
  const { from, until } = requireRange(input, settings.timezone);
  const { kind, format, filters, csv, startDate, endDate } = input;
  requireReportKind(app.config, kind);
  requireKindPermission(actor, kind);
  if (filters.incidentId !== undefined) await requireIncident(app.db, filters.incidentId);
  requirePlateSearch(ctx, { ...filters, ...reasonIn(input) });
  const range = { startsAt: new Date(from), endsAt: new Date(until) };
  const row = await inTransaction(app.db, async (tx) => {
    await requireQueueSpace(tx);
    const created = await insertReport(tx, {
      kind,
      format,
      filters,
      csv,
      settings,
      createdBy: actor.id,
      hidesPlates: !actor.seesPlates,
      ...range,
    });
    const details = { reportId: created.id, kind, format, startDate, endDate, filters };
    await recordActivity(tx, actor.id, caller, 'reports.generate', details);
    const { licensePlateNumber: plate } = filters;
    if (plate !== undefined) await recordPlateLookUp(ctx, plate, input, undefined, tx);
    return created;
  });
  return showOne(ctx, row);
}

/**
 * Requests the file of a study.
 * @throws AppError `notFound`; `forbidden` while reports are switched off; `tooManyRequests` when too many reports are
 * waiting
 */
export async function exportStudy(
  ctx: ActorContext,
  { id, format }: { id: string; format: ReportFormat },
): Promise<Report> {
  const { app, actor, caller } = ctx;
  requireFeature(app.config, 'reports.generate', 'mutation');
  const row = await inTransaction(app.db, async (tx) => {
    const { id: studyId, startsAt, endsAt, settings } = await getStudyHead(tx, id);
    await requireQueueSpace(tx);
    const created = await insertReport(tx, {
      kind: 'STUDY',
      format,
      filters: {},
      studyId,
      settings,
      createdBy: actor.id,
      startsAt,
      endsAt,
    });
    const details = { reportId: created.id, studyId, format };
    await recordActivity(tx, actor.id, caller, 'studies.export', details);
    return created;
  });
  return showOne(ctx, row);
}

/**
 * Cancels a report; its generation stops within a second or two.
 * @throws AppError `notFound`; `conflict` when it is finished; `forbidden` as `requireOwnReport`
 */
export async function cancelReport(ctx: ActorContext, id: string): Promise<Report> {
  const { app, actor, caller } = ctx;
  const row = await inTransaction(app.db, async (tx) => {
    requireOwnReport(actor, (await getReportRow(tx, id)).createdBy);
    const cancelled = await cancelReportRow(tx, id);
    await recordActivity(tx, actor.id, caller, 'reports.cancel', { reportId: cancelled.id });
    return cancelled;
  });
  return showOne(ctx, row);
}

/** Deletes a report and its file. A report in progress is stopped. @throws AppError `notFound`, `forbidden` */
export async function deleteReport(
  { app, actor, caller }: ActorContext<Core & ReportServices>,
  id: string,
): Promise<{ success: true; id: string }> {
  const removed = await inTransaction(app.db, async (tx) => {
    const situation = isUuid(id) ? await findSituationReport(tx, id) : null;
    if (situation)
      throw new AppError(
        'conflict',
        `This is situation report ${situation.number} of an incident, and kept as long as it`,
      );
    const row = await deleteReportRow(tx, id);
    requireOwnReport(actor, row.createdBy);
    const { id: reportId, kind, format } = row;
    await recordActivity(tx, actor.id, caller, 'reports.delete', { reportId, kind, format });
    return row;
  });
  if (removed.fileKey !== null) await app.reportFiles.remove(removed.fileKey);
  return { success: true, id: removed.id };
}

async function showOne({ app: { db } }: ActorContext, row: ReportRow): Promise<Report> {
  const [shown] = await showReports(db, [row]);
  if (!shown) throw new Error('An existing report was not returned');
  return shown;
}

/** Reports as the API returns them, with the names of users, and what reports of traffic wait for. */
export async function showReports(db: Executor, rows: readonly ReportRow[]): Promise<Report[]> {
  const nameOf = await findNames(
    db,
    rows.map(({ createdBy }) => createdBy),
  );
  const waiting = await findWaitingForRollUp(db, rows);
  const backlog = waiting.size === 0 ? null : await rollUpBacklog(db);
  return rows.map((row) => ({
    ...reportOf(row, nameOf),
    waitingFor:
      backlog !== null && waiting.has(row.id) ? { reason: 'COUNTS_OF_TRAFFIC', events: backlog } : null,
  }));
}

/** The address of the file of a report. */
function urlOfFile(id: string): string {
  return `/reports/${id}/file`;
}

function reportOf(row: ReportRow, nameOf: NameOf): Omit<Report, 'waitingFor'> {
  return {
    id: row.id,
    kind: row.kind,
    format: row.format,
    status: row.status,
    progress: row.progress,
    rowCount: row.rowCount,
    range: { startDate: row.startsAt, endDate: new Date(row.endsAt.getTime() - 1) },
    filters: row.filters,
    timezone: row.settings.timezone,
    createdBy: nameOf(row.createdBy),
    scheduleId: row.scheduleId,
    studyId: row.studyId,
    createdAt: row.createdAt,
    startedAt: row.startedAt,
    finishedAt: row.finishedAt,
    fileName: row.fileKey === null ? null : fileNameOf(row),
    size: row.size,
    error: row.error,
    url: row.fileKey === null ? null : urlOfFile(row.id),
  };
}
