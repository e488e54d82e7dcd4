import { isDeepStrictEqual } from 'node:util';
import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import { type WorksAction, worksStateAfter } from '@gantry/contract/work-states';
import {
  type ApproveWorksInput,
  type CancelWorksInput,
  type CreateWorksInput,
  type FollowWorksInput,
  type ListWindowsInput,
  type ListWorksInput,
  MAX_OVERLAPS,
  MAX_WORKS_DAYS,
  type Overlap,
  type SavedWorks,
  type UpdateWorksInput,
  type Works,
  type WorksDetail,
  type WorksWindow,
} from '@gantry/contract/works';
import { recordActivity } from '../activity/store.ts';
import { requirePlaces } from '../incidents/references-store.ts';
import type { Actor, ActorContext, Core } from '../platform/context.ts';
import { readDatabaseTime } from '../platform/database/moment.ts';
import { channels, notify } from '../platform/database/notify.ts';
import {
  type Executor,
  inSnapshot,
  inTransaction,
  type Transaction,
} from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { given } from '../platform/given.ts';
import { createLocalTime } from '../platform/local-time.ts';
import { resolveInterval, resolveTime, withinYears } from '../platform/time.ts';
import { type FollowContext, follow, type StreamMessage } from '../realtime/follow.ts';
import type { Outbox } from '../realtime/publish.ts';
import { getLocation } from '../sensors/locations-store.ts';
import { findOnMap } from './places-store.ts';
import { firstOverlap, windowAfter } from './schedule.ts';
import {
  findOnCarriageway,
  findSensors,
  getWorksRow,
  insertWorks,
  listWorks,
  lockWorks,
  type NewWorks,
  scheduleOf,
  showOne,
  showWorks,
  updateWorksRow,
  type WorksRow,
} from './store.ts';
import { endWindow, publishWorks } from './turns.ts';
import { listWindows, listWindowsOf, moveEndOfActive } from './windows-store.ts';

export type WorksContext = ActorContext<Core & { readonly outbox: Outbox }>;

/** A page of works. @throws AppError `badRequest` when the range ends before it starts */
export async function viewWorks({ app }: ActorContext, input: ListWorksInput) {
  const { items, total } = await listWorks(
    app.db,
    input,
    resolveInterval(input, app.settings.current().timezone),
  );
  return { items: await showWorks(app.db, items), total };
}

/** @throws AppError `notFound` */
export function viewOneWorks({ app }: ActorContext, id: string): Promise<WorksDetail> {
  return inSnapshot(app.db, async (db) => {
    const row = await getWorksRow(db, id);
    return {
      ...(await showSaved(app, db, row)),
      place: row.locationId === null ? null : (await getLocation(db, row.locationId)).name,
      onMap: (await findOnMap(db, [row]))(row.id),
      sensors: await findSensors(db, row.sensorIds),
      windows: await listWindowsOf(db, row, app.clock.now()),
    };
  });
}

/** The windows of all works within some hours. */
export function viewWindows(
  { app }: ActorContext,
  { startDate, hours, drafts, onMap }: ListWindowsInput,
): Promise<{ windows: WorksWindow[]; hasMore: boolean }> {
  const now = app.clock.now();
  const from = startDate === undefined ? now : resolveTime(startDate, app.settings.current().timezone);
  return listWindows(app.db, { from, until: withinYears(from + hours * HOUR_MS) }, { drafts, onMap }, now);
}

/** Streams changes of works. @throws AppError as `follow` does */
export function followWorks(
  ctx: FollowContext,
  { id, lastEventId }: FollowWorksInput,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage<'works'>> {
  const wanted = id?.toLowerCase();
  const matches = ({ works }: { works: Works }): boolean => wanted === undefined || works.id === wanted;
  return follow(ctx, { topics: ['works'], matches, lastEventId }, signal);
}

/** Proposes works. @throws AppError `badRequest` for what can never be in force, or refers to nothing */
export function createWorks(ctx: WorksContext, input: CreateWorksInput): Promise<SavedWorks> {
  const { app, actor } = ctx;
  return inTransaction(app.db, async (tx) => {
    const { startsAt, endsAt, timezone = app.settings.current().timezone, ...fields } = input;
    const zone = app.settings.current().timezone;
    const times = { startsAt: resolvedIn(startsAt, zone), endsAt: resolvedIn(endsAt, zone) };
    const wanted = { ...fields, timezone, ...times };
    await requireSound(tx, wanted);
    const ids = await requireReferences(tx, fields);
    const row = await insertWorks(tx, { ...wanted, ...ids, createdBy: actor.id, proposedBy: actor.id });
    return saveChange(ctx, tx, 'create', row);
  });
}

function resolvedIn(iso: string, zone: string): Date {
  return new Date(resolveTime(iso, zone));
}

type Fields = Omit<NewWorks, 'id' | 'createdBy' | 'proposedBy'> & Pick<NewWorks, 'startsAt' | 'endsAt'>;

/** @throws AppError `badRequest` for works that can never be in force, or are nowhere */
async function requireSound(tx: Transaction, works: Fields): Promise<void> {
  const { startsAt, endsAt, timezone, recurrence = null } = works;
  const now = await readDatabaseTime(tx);
  if (endsAt <= startsAt)
    throw invalidInput('endsAt', 'The works end before they start: give an end after the start');
  if (endsAt.getTime() - startsAt.getTime() > MAX_WORKS_DAYS * DAY_MS)
    throw invalidInput('endsAt', `Works last at most ${MAX_WORKS_DAYS} days: give an earlier end`);
  if (endsAt.getTime() <= now) throw invalidInput('endsAt', 'The works are over already: give a later end');
  if (!windowAfter({ startsAt: startsAt.getTime(), endsAt: endsAt.getTime(), timezone, recurrence }, now))
    throw invalidInput(
      'recurrence',
      'Between start and end there are no such hours (any more): choose others',
    );
  const hasKilometre = works.fromKilometre != null || works.toKilometre != null;
  if (hasKilometre && works.road == null) throw invalidInput('road', 'Name the road of the kilometres');
  const missing = await findMissingPlace(tx, works);
  if (missing === 'sensorIds') throw invalidInput(missing, 'Name the sensors that are maintained');
  if (missing)
    throw invalidInput(missing, 'Say where they are: give a road, a location, a geometry or sensors');
}

/** The field without which works are nowhere, because it was not given, or what it names was deleted; null if there is none. */
async function findMissingPlace(tx: Transaction, works: Fields): Promise<'sensorIds' | 'road' | null> {
  const { kind, road = null, geometry = null, sensorIds = [], locationId = null } = works;
  const hasSensors = (await findSensors(tx, sensorIds)).length > 0;
  if (kind === 'MAINTENANCE' && !hasSensors) return 'sensorIds';
  return road === null && locationId === null && geometry === null && !hasSensors ? 'road' : null;
}

interface References {
  readonly locationId?: string | null | undefined;
  readonly sensorIds?: readonly string[] | undefined;
}

/**
 * What is named must exist when it is entered; it may be deleted later.
 * @param former the sensors before a change, which may have been deleted since
 * @returns the ids as stored
 * @throws AppError `badRequest`
 */
async function requireReferences(
  tx: Transaction,
  { locationId, sensorIds }: References,
  former: readonly string[] = [],
): Promise<Pick<Partial<WorksRow>, 'locationId' | 'sensorIds'>> {
  await requirePlaces(tx, { locationId });
  const ids = [...new Set((sensorIds ?? []).map((id) => id.toLowerCase()))];
  const known = new Set([...former, ...(await findSensors(tx, ids)).map(({ id }) => id)]);
  const unknown = sensorIds?.findIndex((id) => !known.has(id.toLowerCase())) ?? -1;
  if (unknown >= 0)
    throw invalidInput(`sensorIds.${unknown}`, 'No sensor has this id: use the id of an existing one');
  return {
    ...(locationId !== undefined && { locationId: locationId?.toLowerCase() ?? null }),
    ...(sensorIds && { sensorIds: ids }),
  };
}

/** Records a change by a person and tells subscribers. */
async function saveChange(
  { app, actor, caller }: WorksContext,
  tx: Transaction,
  action: WorksAction,
  row: WorksRow,
  details: object = {},
): Promise<SavedWorks> {
  const verb = action === 'create' || action === 'approve' || action === 'cancel' ? action : 'update';
  await recordActivity(tx, actor.id, caller, `works.${verb}`, {
    worksId: row.id,
    title: row.title,
    ...details,
  });
  await publishWorks(tx, action, row, { id: actor.id, name: `${actor.firstName} ${actor.lastName}` });
  await notify(tx, channels.works, '');
  return showSaved(app, tx, row);
}

async function showSaved(
  { settings }: Pick<Core, 'settings'>,
  db: Executor,
  row: WorksRow,
): Promise<SavedWorks> {
  return { ...(await showOne(db, row)), overlaps: await findOverlaps(db, row, settings) };
}

/** Other works with which these meet. Those that are over meet nothing. */
async function findOverlaps(db: Executor, row: WorksRow, settings: Core['settings']): Promise<Overlap[]> {
  if (row.state === 'ENDED' || row.state === 'CANCELLED') return [];
  const now = await readDatabaseTime(db);
  const local = createLocalTime({ ...settings.current(), timezone: row.timezone });
  const found: Overlap[] = [];
  for (const other of await findOnCarriageway(db, row)) {
    const common = firstOverlap(scheduleOf(row), scheduleOf(other), now);
    if (!common) continue;
    const { id, title, state } = other;
    const message = `“${title}” is in force on the same carriageway from ${local.show(common.from)} until ${local.show(common.until)}`;
    found.push({ id, title, state, from: new Date(common.from), until: new Date(common.until), message });
    if (found.length === MAX_OVERLAPS) break;
  }
  return found;
}

const DESCRIPTIVE: ReadonlySet<string> = new Set(['title', 'description', 'contact']);

/** What the change of these fields is. */
function actionOf(state: WorksRow['state'], changed: readonly string[]): 'describe' | 'prolong' | 'propose' {
  const essential = changed.filter((field) => !DESCRIPTIVE.has(field));
  if (essential.length === 0) return 'describe';
  return state === 'ACTIVE' && essential.every((field) => field === 'endsAt') ? 'prolong' : 'propose';
}

/** @throws AppError `conflict` unless the state allows the action */
function requireState(row: WorksRow, action: WorksAction): WorksRow['state'] {
  const next = worksStateAfter(action, row.state);
  if (next) return next;
  const inForce = 'in force: their title, description, contact and end can be changed, or cancel them';
  const now = row.state === 'ACTIVE' ? inForce : `${row.state} now`;
  throw new AppError('conflict', `“${row.title}” is ${now}`);
}

function requireVersion(row: WorksRow, expected: number | undefined): void {
  if (expected !== undefined && expected !== row.version)
    throw new AppError(
      'conflict',
      `“${row.title}” has version ${row.version} now: reload the works before you change them`,
    );
}

/**
 * Changes works. What was approved has to be approved again if more than its description changes.
 * @throws AppError `notFound`; `conflict` when the state does not allow it, or they have another version; `forbidden` for
 * a later end by somebody who may not approve it; `badRequest` as `createWorks`
 */
export function updateWorks(
  ctx: WorksContext,
  { id, expectedVersion, startsAt, endsAt, ...input }: UpdateWorksInput,
): Promise<SavedWorks> {
  const { app, actor } = ctx;
  return inTransaction(app.db, async (tx) => {
    const before = await lockWorks(tx, id);
    requireVersion(before, expectedVersion);
    const zone = app.settings.current().timezone;
    const wanted = {
      ...given(input),
      ...(startsAt !== undefined && { startsAt: resolvedIn(startsAt, zone) }),
      ...(endsAt !== undefined && { endsAt: resolvedIn(endsAt, zone) }),
    };
    const changed = differences(before, wanted);
    const fields = Object.keys(changed);
    if (fields.length === 0) return showSaved(app, tx, before);
    const action = actionOf(before.state, fields);
    const state = requireState(before, action);
    const values =
      action === 'describe'
        ? changed
        : action === 'prolong'
          ? await prolonged(ctx, tx, before, changed)
          : await proposed(tx, before, changed, actor);
    const row = await updateWorksRow(tx, before.id, { ...values, state }, 'person');
    return saveChange(ctx, tx, action, row, { fields });
  });
}

type Changes = Partial<Pick<WorksRow, 'title' | 'description' | 'contact' | 'startsAt' | 'endsAt'>> &
  Partial<WorksRow>;

function differences(before: WorksRow, wanted: Changes): Changes {
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([field, value]) => !isDeepStrictEqual(value, before[field as keyof WorksRow]),
    ),
  );
}

/** A change of what is approved: it waits for an approval. */
async function proposed(
  tx: Transaction,
  before: WorksRow,
  changed: Changes,
  actor: Actor,
): Promise<Partial<NewWorks>> {
  await requireSound(tx, { ...before, ...changed });
  const ids = await requireReferences(tx, changed, before.sensorIds);
  const none = { approvedBy: null, approvedAt: null, windowFrom: null, windowUntil: null, nextAt: null };
  return { ...changed, ...ids, ...none, proposedBy: actor.id };
}

/** Another end of works that are in force. One that is over means now. */
async function prolonged(
  { app, actor }: WorksContext,
  tx: Transaction,
  before: WorksRow,
  changed: Changes,
): Promise<Partial<NewWorks>> {
  const now = await readDatabaseTime(tx);
  const wanted = changed.endsAt?.getTime() ?? before.endsAt.getTime();
  if (wanted > before.endsAt.getTime()) {
    requireApprover(app, actor, before.proposedBy);
    if (wanted - before.startsAt.getTime() > MAX_WORKS_DAYS * DAY_MS)
      throw invalidInput('endsAt', `Works last at most ${MAX_WORKS_DAYS} days: give an earlier end`);
  }
  const from = before.windowFrom?.getTime() ?? now;
  const endsAt = new Date(Math.max(wanted, now, from + 1));
  const window = windowAfter(scheduleOf({ ...before, endsAt }), from);
  const until = window ? new Date(window.until) : endsAt;
  await moveEndOfActive(tx, before.id, until);
  return { ...changed, endsAt, windowUntil: until, nextAt: until };
}

/**
 * Requires that the user may approve what somebody proposed.
 * @throws AppError `forbidden`
 */
function requireApprover({ config }: Pick<Core, 'config'>, { id, role }: Actor, proposedBy: string): void {
  if (role === 'ADMIN') return;
  if (role !== 'OPERATOR') throw new AppError('forbidden', 'Only administrators and operators approve works');
  if (id === proposedBy && config.WORKS_SECOND_PERSON)
    throw new AppError(
      'forbidden',
      'You proposed this, so another operator or an administrator must approve it',
    );
}

/**
 * Approves works: their windows begin and end by the clock from now on. One that has started already begins at once.
 * @throws AppError `notFound`; `conflict` when they have another version or state; `forbidden` for who proposed them;
 * `badRequest` when their last window is over, or all that says where they are was deleted
 */
export function approveWorks(
  ctx: WorksContext,
  { id, expectedVersion }: ApproveWorksInput,
): Promise<SavedWorks> {
  const { app, actor } = ctx;
  return inTransaction(app.db, async (tx) => {
    const before = await lockWorks(tx, id);
    const state = requireState(before, 'approve');
    requireVersion(before, expectedVersion);
    requireApprover(app, actor, before.proposedBy);
    if (await findMissingPlace(tx, before))
      throw invalidInput(
        'id',
        'What says where the works are was deleted: change them before you approve them',
      );
    const now = await readDatabaseTime(tx);
    const window = windowAfter(scheduleOf(before), now);
    if (!window) throw invalidInput('id', 'The last window of the works is over: give them a later end');
    const [windowFrom, windowUntil] = [new Date(window.from), new Date(window.until)];
    const times = { windowFrom, windowUntil, nextAt: windowFrom, approvedAt: new Date(now) };
    const row = await updateWorksRow(tx, before.id, { state, approvedBy: actor.id, ...times }, 'person');
    return saveChange(ctx, tx, 'approve', row);
  });
}

/**
 * Cancels works; if they are in force, they end now.
 * @throws AppError `notFound`; `conflict` when they are over
 */
export function cancelWorks(ctx: WorksContext, { id, reason }: CancelWorksInput): Promise<SavedWorks> {
  const { app, actor } = ctx;
  return inTransaction(app.db, async (tx) => {
    const before = await lockWorks(tx, id);
    const state = requireState(before, 'cancel');
    if (before.state === 'ACTIVE')
      await endWindow(app, tx, before, 'CANCELLED', new Date(await readDatabaseTime(tx)));
    const row = await updateWorksRow(
      tx,
      before.id,
      {
        ...{ state, cancelledBy: actor.id, cancelReason: reason },
        ...{ windowFrom: null, windowUntil: null, nextAt: null },
      },
      'person',
    );
    return saveChange(ctx, tx, 'cancel', row, { reason });
  });
}
