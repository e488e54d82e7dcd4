import type { LookUpReason } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import { mayDo, permissionNames } from '@gantry/contract/permissions';
import {
  type CreateScheduleInput,
  filtersOutOfPlace,
  missingDay,
  type ReportFilters,
  type ReportSchedule,
  type SendTo,
  type UpdateScheduleInput,
} from '@gantry/contract/reports';
import { mayRolesSeePlates } from '../accounts/role-settings.ts';
import { recordActivity } from '../activity/store.ts';
import { requirePlateSearch, requireSeesPlates } from '../events/plate-access.ts';
import { recordPlateLookUp } from '../events/service.ts';
import type { ActorContext } from '../platform/context.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { given } from '../platform/given.ts';
import { requireReportKind } from '../system/features.ts';
import { dropDispatches, findRecipients } from './dispatches-store.ts';
import { nextRun, type Recurrence } from './recurrence.ts';
import {
  deleteScheduleRow,
  insertSchedule,
  lockSchedule,
  type ScheduleRow,
  showSchedules,
  updateScheduleRow,
} from './schedules-store.ts';
import { requireOwnReport } from './service.ts';

/**
 * @throws AppError `badRequest` when there are too many; as `requireReportKind`, `requirePlateSearch` and `requireSendable`
 * do
 */
export async function createSchedule(
  ctx: ActorContext,
  { reason, purpose, caseNumber, ...input }: CreateScheduleInput,
): Promise<ReportSchedule> {
  const { app, actor, caller } = ctx;
  requireReportKind(app.config, input.kind);
  const why = { reason, purpose, caseNumber };
  requirePlateSearch(ctx, { ...input.filters, ...why });
  const { timezone } = app.settings.current();
  const nextRunAt = nextRunOf(input, timezone, app.clock.now());
  const row = await inTransaction(app.db, async (tx) => {
    const hidesPlates = !actor.seesPlates;
    const sendTo = await requireSendable(ctx, tx, { ...input, hidesPlates });
    const created = await insertSchedule(tx, {
      ...input,
      sendTo,
      timezone,
      nextRunAt,
      createdBy: actor.id,
      hidesPlates,
    });
    await recordActivity(tx, actor.id, caller, 'reports.createSchedule', {
      scheduleId: created.id,
      ...input,
    });
    await recordPlate(ctx, tx, input.filters, why);
    return created;
  });
  return showOne(ctx, row);
}

/**
 * Sets the given fields.
 * @throws AppError `notFound`; `badRequest` when they are inconsistent; `forbidden` as `requireOwnReport`; as
 * `requirePlateSearch` and `requireSendable` do
 */
export async function updateSchedule(
  ctx: ActorContext,
  { id, reason, purpose, caseNumber, ...input }: UpdateScheduleInput,
): Promise<ReportSchedule> {
  const { app, actor, caller } = ctx;
  const why = { reason, purpose, caseNumber };
  requirePlateSearch(ctx, { ...input.filters, ...why });
  const { timezone } = app.settings.current();
  const changes: Partial<ScheduleRow> = given(input);
  const row = await inTransaction(app.db, async (tx) => {
    const present = await lockSchedule(tx, id);
    requireOwnReport(actor, present.createdBy);
    const wanted = { ...present, ...changes };
    requireWhole(wanted);
    if (wanted.filters.licensePlateNumber !== undefined) requireSeesPlates(ctx);
    // Plates stay hidden when a user who sees them changes the schedule, because the same people read its reports as
    // before.
    const hidesPlates = wanted.hidesPlates || !actor.seesPlates;
    if (input.sendTo !== undefined || input.filters !== undefined) {
      changes.sendTo = await requireSendable(ctx, tx, { ...wanted, hidesPlates }, present.sendTo?.userIds);
      await dropDispatches(tx, wanted.id, changes.sendTo);
    }
    const now = app.clock.now();
    const nextRunAt = nextRunOf(wanted, timezone, now);
    const changed = await updateScheduleRow(tx, wanted.id, {
      ...changes,
      hidesPlates,
      timezone,
      nextRunAt,
      updatedAt: new Date(now),
    });
    await recordActivity(tx, actor.id, caller, 'reports.updateSchedule', {
      scheduleId: changed.id,
      ...changes,
    });
    if (input.filters) await recordPlate(ctx, tx, input.filters, why);
    return changed;
  });
  return showOne(ctx, row);
}

/** Deletes a schedule; its reports stay. @throws AppError `notFound`, `forbidden` */
export function deleteSchedule(
  { app, actor, caller }: ActorContext,
  id: string,
): Promise<{ success: true; id: string }> {
  return inTransaction(app.db, async (tx) => {
    const { id: scheduleId, kind, createdBy } = await deleteScheduleRow(tx, id);
    requireOwnReport(actor, createdBy);
    await dropDispatches(tx, scheduleId, null);
    await recordActivity(tx, actor.id, caller, 'reports.deleteSchedule', { scheduleId, kind });
    return { success: true as const, id: scheduleId };
  });
}

/**
 * Records the look-up of the plate in the filters of a schedule, if there is one: the schedule looks it up at every
 * run.
 */
async function recordPlate(
  ctx: ActorContext,
  tx: Transaction,
  filters: ReportFilters,
  why: LookUpReason,
): Promise<void> {
  const { licensePlateNumber: plate } = filters;
  if (plate !== undefined) await recordPlateLookUp(ctx, plate, why, undefined, tx);
}

async function showOne({ app, actor }: ActorContext, row: ScheduleRow): Promise<ReportSchedule> {
  const [shown] = await showSchedules(app.db, [row], actor);
  if (!shown) throw new Error('An existing schedule was not returned');
  return shown;
}

/**
 * Where the reports of a schedule are to be sent, if they can be.
 * @param former the users to whom they were sent before; they may have been deactivated, or given another role, since
 * @throws AppError `badRequest` when they cannot; `forbidden` when the user may send them only to themselves
 */
async function requireSendable(
  { app, actor }: ActorContext,
  tx: Transaction,
  { sendTo, filters, hidesPlates }: Pick<ScheduleRow, 'sendTo' | 'hidesPlates'> & { filters: ReportFilters },
  former: readonly string[] = [],
): Promise<SendTo | null> {
  if (sendTo === null) return null;
  const { emails, folder, withPlates } = sendTo;
  const userIds = [...new Set(sendTo.userIds.map((each) => each.toLowerCase()))];
  if (
    !mayDo(actor.role, 'manageReports') &&
    (emails.length > 0 || folder !== null || userIds.some((each) => each !== actor.id))
  )
    throw new AppError(
      'forbidden',
      `Without the permission ${permissionNames.manageReports}, reports can be sent only to yourself: name your own id in userIds`,
    );
  if (emails.length + userIds.length > 0 && !app.mailer.isConfigured)
    throw invalidInput('sendTo', 'No mail server is configured: set SMTP_URL and SMTP_FROM first');
  if (withPlates && hidesPlates)
    throw invalidInput(
      'sendTo.withPlates',
      'This schedule hides number plates, because a user who may not see them created or changed it: create another',
    );
  if (!withPlates && filters.licensePlateNumber !== undefined)
    throw invalidInput(
      'sendTo.withPlates',
      'A report on one number plate can be sent only with number plates: set withPlates, or send it to nobody',
    );
  const found = await findRecipients(tx, userIds.filter(isUuid));
  const known = new Set([...former, ...found.map(({ id }) => id)]);
  const unknown = userIds.find((each) => !known.has(each));
  if (unknown !== undefined) throw invalidInput('sendTo.userIds', `There is no active user ${unknown}`);
  const unable = found.find(({ id, role }) => !mayDo(role, 'viewReports') && !former.includes(id));
  if (unable)
    throw invalidInput(
      'sendTo.userIds',
      `The user ${unable.id} does not have the permission ${permissionNames.viewReports}`,
    );
  if (withPlates && found.some(({ role }) => !mayRolesSeePlates(app.config, role)))
    throw invalidInput('sendTo.withPlates', 'A recipient has a role that may not see number plates');
  return { ...sendTo, userIds };
}

function nextRunOf(schedule: Recurrence & { enabled: boolean }, timezone: string, now: number): Date | null {
  return schedule.enabled ? new Date(nextRun(schedule, timezone, now)) : null;
}

/** @throws AppError `badRequest` when the fields are inconsistent */
function requireWhole(schedule: ScheduleRow): void {
  const missing = missingDay(schedule);
  if (missing !== null) throw invalidInput(missing, `Set ${missing} for ${schedule.every}`);
  const [filter] = filtersOutOfPlace(schedule.kind, schedule.filters);
  if (filter !== undefined) {
    throw invalidInput(
      `filters.${filter}`,
      `A report of the kind ${schedule.kind} cannot be filtered by ${filter}`,
    );
  }
}
