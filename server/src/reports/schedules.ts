import {
  type CreateScheduleInput,
  filtersOutOfPlace,
  missingDay,
  type ReportFilters,
  type ReportSchedule,
  type UpdateScheduleInput,
} from '@gantry/contract/reports';
import { recordActivity } from '../activity/store.ts';
import { requirePlateSearch, requireSeesPlates } from '../events/plate-access.ts';
import { recordPlateLookUp } from '../events/service.ts';
import type { ActorContext } from '../platform/context.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { invalidInput } from '../platform/error.ts';
import { given } from '../platform/given.ts';
import { requireReportKind } from '../system/features.ts';
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

/** @throws AppError `badRequest` when there are too many; as `requireReportKind` and `requirePlateSearch` do */
export async function createSchedule(
  ctx: ActorContext,
  { reason, ...input }: CreateScheduleInput,
): Promise<ReportSchedule> {
  const { app, actor, caller } = ctx;
  requireReportKind(app.config, input.kind);
  requirePlateSearch(ctx, { ...input.filters, reason });
  const { timezone } = app.settings.current();
  const nextRunAt = nextRunOf(input, timezone, app.clock.now());
  const row = await inTransaction(app.db, async (tx) => {
    const hidesPlates = !actor.seesPlates;
    const created = await insertSchedule(tx, {
      ...input,
      timezone,
      nextRunAt,
      createdBy: actor.id,
      hidesPlates,
    });
    await recordActivity(tx, actor.id, caller, 'reports.createSchedule', {
      scheduleId: created.id,
      ...input,
    });
    await recordPlate(ctx, tx, input.filters, reason);
    return created;
  });
  return showOne(ctx, row);
}

/**
 * Sets the given fields.
 * @throws AppError `notFound`; `badRequest` when they are inconsistent; `forbidden` as `requireOwnReport`; as
 * `requirePlateSearch` does
 */
export async function updateSchedule(
  ctx: ActorContext,
  { id, reason, ...input }: UpdateScheduleInput,
): Promise<ReportSchedule> {
  const { app, actor, caller } = ctx;
  requirePlateSearch(ctx, { ...input.filters, reason });
  const { timezone } = app.settings.current();
  const changes: Partial<ScheduleRow> = given(input);
  const row = await inTransaction(app.db, async (tx) => {
    const present = await lockSchedule(tx, id);
    requireOwnReport(actor, present.createdBy);
    const wanted = { ...present, ...changes };
    requireWhole(wanted);
    if (wanted.filters.licensePlateNumber !== undefined) requireSeesPlates(ctx);
    const now = app.clock.now();
    const nextRunAt = nextRunOf(wanted, timezone, now);
    const changed = await updateScheduleRow(tx, wanted.id, {
      ...changes,
      // Plates stay hidden when a user who sees them changes the schedule, because the same people read its reports as
      // before.
      hidesPlates: wanted.hidesPlates || !actor.seesPlates,
      timezone,
      nextRunAt,
      updatedAt: new Date(now),
    });
    await recordActivity(tx, actor.id, caller, 'reports.updateSchedule', {
      scheduleId: changed.id,
      ...changes,
    });
    if (input.filters) await recordPlate(ctx, tx, input.filters, reason);
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
  reason: string | undefined,
): Promise<void> {
  const { licensePlateNumber: plate } = filters;
  if (plate !== undefined) await recordPlateLookUp(ctx, plate, reason, undefined, tx);
}

async function showOne({ app: { db } }: ActorContext, row: ScheduleRow): Promise<ReportSchedule> {
  const [shown] = await showSchedules(db, [row]);
  if (!shown) throw new Error('An existing schedule was not returned');
  return shown;
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
