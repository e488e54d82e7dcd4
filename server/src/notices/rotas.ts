import { DAY_MS } from '@gantry/contract/durations';
import type {
  CreateRotaInput,
  OnDutyInput,
  PreviewRotaInput,
  Rota,
  RotaWarning,
  Shift,
  StoredOverride,
  UpdateRotaInput,
} from '@gantry/contract/rotas';
import { findNames } from '../accounts/names-store.ts';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext } from '../platform/context.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import { invalidInput } from '../platform/error.ts';
import { givenFields } from '../platform/given.ts';
import { createLocalTime } from '../platform/local-time.ts';
import { addDays, dayOf, type Interval, resolveTime } from '../platform/time.ts';
import { findReachable } from './contacts-store.ts';
import { type DutyRules, type DutyShift, shiftsOf } from './on-duty.ts';
import { requireUnnamed } from './recipients.ts';
import {
  deleteRotaRow,
  getRotaRow,
  insertRota,
  listRotaRows,
  lockRota,
  peopleOnDuty,
  type RotaRow,
  showRotas,
  updateRotaRow,
} from './rotas-store.ts';

/** Number of days for which gaps are looked for. */
const WARNED_DAYS = 28;

type WarnedRota = Rota & { readonly warnings: RotaWarning[] };

/** All rotas, with who is on duty now. */
export async function viewRotas({ app: { db, clock } }: ActorContext) {
  const rows = await listRotaRows(db);
  const now = await peopleOnDuty(db, rows, clock.now());
  const nameOf = await findNames(db, now);
  const shown = await showRotas(db, rows);
  return shown.map((rota, n) => ({ ...rota, onDuty: nameOf(now[n] ?? null) }));
}

/** @throws AppError `notFound` */
export async function viewRota(ctx: ActorContext, id: string): Promise<WarnedRota> {
  return withWarnings(ctx, ctx.app.db, await getRotaRow(ctx.app.db, id));
}

/** @throws AppError `badRequest` for a user who does not exist, an override that ends before it begins, or too many rotas */
export function createRota(ctx: ActorContext, { name, ...rules }: CreateRotaInput): Promise<WarnedRota> {
  const { app, actor, caller } = ctx;
  const duty = dutyRules(ctx, rules);
  return inTransaction(app.db, async (tx) => {
    await requireMembers(tx, duty);
    const row = await insertRota(tx, { ...rowOf(duty), name, createdBy: actor.id });
    await recordActivity(tx, actor.id, caller, 'rotas.create', { rotaId: row.id, name });
    return withWarnings(ctx, tx, row);
  });
}

/** Sets the given fields. @throws AppError `notFound`; `badRequest` as `createRota` */
export function updateRota(ctx: ActorContext, { id, ...changes }: UpdateRotaInput): Promise<WarnedRota> {
  const { app, actor, caller } = ctx;
  return inTransaction(app.db, async (tx) => {
    const before = await lockRota(tx, id);
    const duty = dutyRules(ctx, {
      timezone: changes.timezone ?? before.timezone,
      layers: changes.layers ?? before.layers,
      overrides: changes.overrides ?? before.overrides,
    });
    if (changes.layers || changes.overrides) await requireMembers(tx, duty, membersOf(before));
    const row = await updateRotaRow(tx, before.id, { ...rowOf(duty), name: changes.name ?? before.name });
    const details = { rotaId: row.id, name: row.name, fields: givenFields(changes) };
    await recordActivity(tx, actor.id, caller, 'rotas.update', details);
    return withWarnings(ctx, tx, row);
  });
}

/** @throws AppError `notFound`; `conflict` while a policy names it */
export function deleteRota({ app, actor, caller }: ActorContext, id: string): Promise<string> {
  return inTransaction(app.db, async (tx) => {
    await requireUnnamed(tx, 'rotaId', id);
    const { id: rotaId, name } = await deleteRotaRow(tx, id);
    await recordActivity(tx, actor.id, caller, 'rotas.delete', { rotaId, name });
    return rotaId;
  });
}

/** The shifts and warnings of a rota that is not saved. @throws AppError `badRequest` as `createRota` */
export async function previewRota(ctx: ActorContext, { startDate, days, ...rules }: PreviewRotaInput) {
  const { db } = ctx.app;
  const duty = dutyRules(ctx, rules);
  await requireMembers(db, duty);
  return {
    shifts: await showShifts(db, shiftsOf(duty, shownRange(ctx, duty, { startDate, days }))),
    warnings: await warningsOf(ctx, db, duty),
  };
}

/** Who is on duty at a time, and the shifts of some days. @throws AppError `notFound` */
export async function viewOnDuty(ctx: ActorContext, { id, at, startDate, days }: OnDutyInput) {
  const { db, clock } = ctx.app;
  const rota = await getRotaRow(db, id);
  const moment = at === undefined ? clock.now() : resolveTime(at, rota.timezone);
  const [userId = null] = await peopleOnDuty(db, [rota], moment);
  const nameOf = await findNames(db, [userId]);
  const shifts = shiftsOf(rota, shownRange(ctx, rota, { startDate, days }));
  return { onDuty: nameOf(userId), shifts: await showShifts(db, shifts) };
}

function shownRange(
  { app }: ActorContext,
  { timezone }: DutyRules,
  { startDate, days }: { readonly startDate: string | undefined; readonly days: number },
): Interval {
  const first = startDate ?? dayOf(app.clock.now(), timezone);
  return { from: resolveTime(first, timezone), until: resolveTime(addDays(first, days), timezone) };
}

/** The rules with times in UTC. @throws AppError `badRequest` for an override that ends before it begins */
function dutyRules(
  { app }: ActorContext,
  { timezone: given, layers, overrides }: Pick<CreateRotaInput, 'timezone' | 'layers' | 'overrides'>,
): DutyRules {
  const timezone = given ?? app.settings.current().timezone;
  const lower = (userId: string): string => userId.toLowerCase();
  return {
    timezone,
    layers: layers.map((layer) => ({ ...layer, members: layer.members.map(lower) })),
    overrides: overrides.map((each, n): StoredOverride => {
      const [from, until] = [resolveTime(each.from, timezone), resolveTime(each.until, timezone)];
      if (from >= until)
        throw invalidInput(`overrides.${n}.until`, 'The override ends before it begins: choose a later end');
      return {
        from: new Date(from).toISOString(),
        until: new Date(until).toISOString(),
        userId: each.userId && lower(each.userId),
      };
    }),
  };
}

function rowOf({ timezone, layers, overrides }: DutyRules) {
  return { timezone, layers: [...layers], overrides: [...overrides] };
}

/**
 * @param former those whom the rota named before; they may have been deactivated since
 * @throws AppError `badRequest` for a user who does not exist or is not active
 */
async function requireMembers(
  db: Executor,
  { layers, overrides }: DutyRules,
  former: readonly string[] = [],
): Promise<void> {
  const active = await findReachable(db, membersOf({ layers, overrides }));
  const known = new Set([...former, ...active.map(({ userId }) => userId)]);
  const require = (userId: string, path: string): void => {
    if (!known.has(userId)) throw invalidInput(path, 'There is no such active user: give the id of one');
  };
  for (const [l, { members }] of layers.entries())
    for (const [m, userId] of members.entries()) require(userId, `layers.${l}.members.${m}`);
  for (const [n, { userId }] of overrides.entries())
    if (userId !== null) require(userId, `overrides.${n}.userId`);
}

function membersOf({ layers, overrides }: Pick<DutyRules, 'layers' | 'overrides'>): string[] {
  return [
    ...new Set([
      ...layers.flatMap(({ members }) => members),
      ...overrides.flatMap(({ userId }) => userId ?? []),
    ]),
  ];
}

async function showShifts(db: Executor, shifts: readonly DutyShift[]): Promise<Shift[]> {
  const nameOf = await findNames(
    db,
    shifts.map(({ userId }) => userId),
  );
  return shifts.map(({ from, until, userId, layer }) => ({
    ...{ from: new Date(from), until: new Date(until), layer },
    user: nameOf(userId),
  }));
}

async function withWarnings(ctx: ActorContext, db: Executor, row: RotaRow): Promise<WarnedRota> {
  const [rota] = await showRotas(db, [row]);
  if (!rota) throw new Error('A rota has disappeared');
  return { ...rota, warnings: await warningsOf(ctx, db, row) };
}

async function warningsOf({ app }: ActorContext, db: Executor, rota: DutyRules): Promise<RotaWarning[]> {
  const now = app.clock.now();
  const shifts = shiftsOf(rota, { from: now, until: now + WARNED_DAYS * DAY_MS });
  const [gap, ...others] = shifts.filter(({ userId }) => userId === null);
  const local = createLocalTime({ ...app.settings.current(), timezone: rota.timezone });
  const warnings: RotaWarning[] = [];
  if (gap) {
    const more = others.length === 0 ? '' : ` and at ${others.length} other times`;
    warnings.push({
      ...{ kind: 'GAP' as const, others: others.length, user: null },
      ...{ from: new Date(gap.from), until: new Date(gap.until) },
      message: `Nobody is on duty from ${local.show(gap.from)} until ${local.show(gap.until)}${more} within ${WARNED_DAYS} days (${rota.timezone})`,
    });
  }
  const members = membersOf(rota);
  const reachable = await findReachable(db, members);
  const nameOf = await findNames(db, members);
  for (const userId of members) {
    if (reachable.some((each) => each.userId === userId && each.contacts.length > 0)) continue;
    const user = nameOf(userId);
    warnings.push({
      ...{ kind: 'UNREACHABLE' as const, from: null, until: null, others: 0, user },
      message: `${user?.name ?? 'A deleted user'} cannot be reached: the user has no confirmed contact`,
    });
  }
  return warnings;
}
