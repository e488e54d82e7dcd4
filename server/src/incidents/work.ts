import { DAY_MS, MINUTE_MS } from '@gantry/contract/durations';
import {
  codeOfTime,
  incidentTimes,
  type SettableTime,
  settableTimes,
} from '@gantry/contract/incident-states';
import type {
  IncidentWork,
  LaneEntry,
  SetFactsInput,
  SetLanesInput,
  SetTimesInput,
  VerifyIncidentInput,
} from '@gantry/contract/incident-work';
import type { Incident, IncidentAction } from '@gantry/contract/incidents';
import { findNames, type NameOf } from '../accounts/names-store.ts';
import { type Executor, inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { invalidInput } from '../platform/error.ts';
import { given } from '../platform/given.ts';
import { resolveTime } from '../platform/time.ts';
import { listCalled, showCalled } from './agencies-store.ts';
import { changeIncident, type IncidentContext, requireAllowed } from './change.ts';
import { viewPlanOf } from './plans.ts';
import { type IncidentFields, type IncidentRow, incidentOf, lockIncident } from './store.ts';
import {
  type Conflicts,
  findWrongOrder,
  lanesOpenSince,
  nameOfTime,
  secondsSinceOpening,
  settleTimes,
  type Times,
  timesOfUnits,
} from './times.ts';
import {
  findLinks,
  findMergedInto,
  insertLanes,
  isConsequence,
  type LaneRow,
  listLaneHistory,
  listLanes,
  listLinked,
  lockLinks,
  readLanes,
  readWork,
  saveWork,
  type Work,
} from './work-store.ts';

// What people record while they work on an incident.

/** The work after a change, with what the timeline says of it. */
export interface WorkChange {
  readonly work: Work;
  readonly details: Record<string, unknown>;
  /** Fields of the incident that follow from it. */
  readonly also?: IncidentFields;
}

/**
 * Changes the work on an incident. Changes of one incident are made one after another.
 * @param change returns null if what it should change is so already
 * @throws AppError as `changeIncident` does, and as `change` does
 */
export function changeWork(
  ctx: IncidentContext,
  {
    id,
    action,
    note = null,
  }: { readonly id: string; readonly action: IncidentAction; readonly note?: string | null },
  change: (tx: Transaction, before: IncidentRow, work: Work) => Promise<WorkChange | null>,
): Promise<Incident> {
  return inTransaction(ctx.app.db, async (tx) => {
    const before = await lockIncident(tx, id);
    await requireAllowed(ctx, tx, before, action);
    const work = await readWork(tx, before);
    const changed = await change(tx, before, work);
    if (!changed) return incidentOf(before, await findNames(tx, [before.reportedBy, before.assignedTo]));
    const settled = await settleWork(tx, before.id, changed.work);
    await saveWork(tx, before.id, settled);
    const details = { ...changed.details, ...timeChanges(work.times, settled.times) };
    return changeIncident(ctx, tx, id, { action, also: changed.also }, { note, describe: () => details });
  });
}

/** Adds the times that follow from other records. */
export async function settleWork(tx: Transaction, id: string, work: Work): Promise<Work> {
  const { openedAt } = work.times;
  return { ...work, times: settleTimes({ ...work.set, openedAt }, await deriveTimes(tx, id)).times };
}

/** The times that follow from the states of lanes, and from those of units. */
async function deriveTimes(db: Executor, id: string): Promise<Times> {
  const lanesOpenAt = lanesOpenSince(await readLanes(db, id));
  const units = (await listCalled(db, id)).map(({ dispatchedAt, arrivedAt, leftAt }) => ({
    dispatchedAt: dispatchedAt?.getTime() ?? null,
    arrivedAt: arrivedAt?.getTime() ?? null,
    leftAt: leftAt?.getTime() ?? null,
  }));
  return { ...timesOfUnits(units), ...(lanesOpenAt !== undefined && { lanesOpenAt }) };
}

/** The times that differ, with both values, as details of the timeline. */
function timeChanges(before: Times, after: Times): Record<string, unknown> {
  const iso = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());
  return Object.fromEntries(
    settableTimes
      .filter((name) => before[name] !== after[name])
      .map((name) => [name, { from: iso(before[name]), to: iso(after[name]) }]),
  );
}

/** Now, but not before the opening, which may be dated ahead because clocks of devices differ. */
export function nowFor({ app }: IncidentContext, { openedAt = 0 }: Times): number {
  return Math.round(Math.max(app.clock.now(), openedAt));
}

/** @throws AppError `badRequest` for a time after now */
function requirePast(ctx: IncidentContext, times: Times, field: SettableTime | 'at', at: number): void {
  const now = nowFor(ctx, times);
  if (at <= now) return;
  const what = field === 'at' ? new Date(at).toISOString() : nameOfTime(field, at);
  throw invalidInput(
    field,
    `${what} is after now (${new Date(now).toISOString()}): enter it once it is reached`,
  );
}

/** @throws AppError `badRequest` for times that are not in order, which names two of them */
function requireOrder(times: Times, fieldOf: (name: SettableTime) => string): void {
  const wrong = findWrongOrder(times);
  if (!wrong) return;
  const named = wrong.second === 'openedAt' ? wrong.first : wrong.second;
  throw invalidInput(
    fieldOf(named as SettableTime),
    `${wrong.message}: correct ${codeOfTime(wrong.first)} or ${codeOfTime(wrong.second)}`,
  );
}

/**
 * Sets times of an incident, or takes back what was set.
 * @throws AppError as `changeIncident` does; `badRequest` for a time after now, or times that are not in order
 */
export function setTimes(
  ctx: IncidentContext,
  { id, note, ifUnknown, ...input }: SetTimesInput,
): Promise<Incident> {
  const { timezone } = ctx.app.settings.current();
  return changeWork(ctx, { id, action: 'setTimes', note }, async (_tx, _before, work) => {
    const set: { [Time in SettableTime]?: number } = { ...work.set };
    for (const name of settableTimes) {
      const value = input[name];
      if (ifUnknown && work.times[name] !== undefined) continue;
      if (value === null) delete set[name];
      if (!value) continue;
      const now = nowFor(ctx, work.times);
      const given = value === 'now' ? now : resolveTime(value, timezone);
      // Clocks of phones differ a little.
      const at = ifUnknown && given < now + MINUTE_MS ? Math.min(given, now) : given;
      requirePast(ctx, work.times, name, at);
      set[name] = at;
    }
    if (settableTimes.every((name) => set[name] === work.set[name])) return null;
    requireOrder({ ...set, openedAt: work.times.openedAt }, (name) => name);
    return { work: { ...work, set }, details: {} };
  });
}

/**
 * Records that somebody has verified the incident (T2). Without effect if it was verified before.
 * @throws AppError as `setTimes` does
 */
export function verifyIncident(
  ctx: IncidentContext,
  { id, at, note }: VerifyIncidentInput,
): Promise<Incident> {
  const { settings } = ctx.app;
  return changeWork(ctx, { id, action: 'verify', note }, async (_tx, _before, work) => {
    if (work.set.verifiedAt !== undefined) return null;
    const verifiedAt =
      at === undefined ? nowFor(ctx, work.times) : resolveTime(at, settings.current().timezone);
    requirePast(ctx, work.times, 'at', verifiedAt);
    const set = { ...work.set, verifiedAt };
    requireOrder({ ...set, openedAt: work.times.openedAt }, () => 'at');
    return { work: { ...work, set }, details: {} };
  });
}

/** Closes an incident that is none. @throws AppError as `changeIncident` does */
export function rejectFalse(
  ctx: IncidentContext,
  { id, reason }: { readonly id: string; readonly reason: string },
): Promise<Incident> {
  return changeWork(ctx, { id, action: 'rejectFalse', note: reason }, async (_tx, _before, work) => ({
    work: { ...work, isFalseAlarm: true },
    details: {},
  }));
}

/** The largest number of blocked lanes that an incident has. */
const MAX_BLOCKED = 20;

/**
 * Records how the lanes of a carriageway are from a time on. Without effect if they are so already.
 * @throws AppError as `changeIncident` does; `badRequest` for a time after now, before the last change, or long before
 * the opening
 */
export function setLanes(
  ctx: IncidentContext,
  { id, direction, lanes, shoulder, at: when, note }: SetLanesInput,
): Promise<Incident> {
  const { clock, settings } = ctx.app;
  return changeWork(ctx, { id, action: 'setLanes', note }, async (tx, before, work) => {
    const known = await listLanes(tx, before.id);
    const present = known.find((each) => each.direction === direction);
    const wanted = { lanes, shoulder };
    if (present && isSame(present, wanted)) return null;
    const last = Math.max(...known.map(({ at }) => at.getTime()));
    const at =
      when === undefined
        ? Math.max(Math.round(clock.now()), last)
        : resolveTime(when, settings.current().timezone);
    if (when !== undefined) requireTimeOfLanes(ctx, work.times, { at, last });
    const row = { direction, ...wanted, at: new Date(at), userId: ctx.actor.id };
    await insertLanes(tx, before.id, row);
    const others = known.filter((each) => each !== present);
    const closed = [...others, row].flatMap((each) =>
      each.lanes.filter((state) => state === 'CLOSED'),
    ).length;
    return {
      work,
      details: {
        lanes: { direction, from: present ? statesOf(present) : null, to: wanted, at: row.at.toISOString() },
      },
      also: { lanesBlocked: Math.min(MAX_BLOCKED, closed) },
    };
  });
}

function statesOf({ lanes, shoulder }: Pick<LaneRow, 'lanes' | 'shoulder'>) {
  return { lanes, shoulder };
}

function isSame(
  one: Pick<LaneRow, 'lanes' | 'shoulder'>,
  other: Pick<LaneRow, 'lanes' | 'shoulder'>,
): boolean {
  return JSON.stringify(statesOf(one)) === JSON.stringify(statesOf(other));
}

function requireTimeOfLanes(
  ctx: IncidentContext,
  times: Times,
  { at, last }: { readonly at: number; readonly last: number },
): void {
  requirePast(ctx, times, 'at', at);
  const iso = new Date(at).toISOString();
  if (at < last)
    throw invalidInput(
      'at',
      `${iso} is before the last change of lanes (${new Date(last).toISOString()}): enter a later time`,
    );
  const { openedAt = at } = times;
  if (at < openedAt - DAY_MS)
    throw invalidInput(
      'at',
      `${iso} is more than a day before ${nameOfTime('openedAt', openedAt)}: correct the time`,
    );
}

/**
 * Sets facts of an incident, among them the incident of which it is a consequence.
 * @throws AppError as `changeIncident` does; `badRequest` when the other incident does not exist, or is a consequence of
 * this one
 */
export function setFacts(
  ctx: IncidentContext,
  { id, secondaryOf, ...facts }: SetFactsInput,
): Promise<Incident> {
  return changeWork(ctx, { id, action: 'setFacts' }, async (tx, before, work) => {
    const primary = secondaryOf && (await requirePrimary(tx, before.id, secondaryOf));
    const changes = given({ ...facts, secondaryOf: primary });
    const names = (Object.keys(changes) as (keyof typeof changes)[]).filter(
      (name) => changes[name] !== work[name],
    );
    if (names.length === 0) return null;
    const details = Object.fromEntries(names.map((name) => [name, { from: work[name], to: changes[name] }]));
    return { work: { ...work, ...changes }, details };
  });
}

/** @returns the id as stored */
async function requirePrimary(tx: Transaction, id: string, wanted: string): Promise<string> {
  const primary = wanted.toLowerCase();
  if (primary === id)
    throw invalidInput('secondaryOf', 'An incident is no consequence of itself: give the id of another one');
  const link = (await findLinks(tx, [primary])).get(primary);
  if (!link) throw invalidInput('secondaryOf', 'No incident has this id: use the id of an existing one');
  const mergedInto = await findMergedInto(tx, primary);
  if (mergedInto)
    throw invalidInput(
      'secondaryOf',
      `“${link.title}” was merged into “${mergedInto.title}”: give the id of that one (${mergedInto.id})`,
    );
  await lockLinks(tx);
  if (await isConsequence(tx, primary, id))
    throw invalidInput(
      'secondaryOf',
      `“${link.title}” is itself a consequence of this incident: take that back first`,
    );
  return link.id;
}

// Queries.

/** What is recorded of the work on an incident. */
export async function viewWork(
  db: Executor,
  row: IncidentRow,
): Promise<{ work: Work; show: (nameOf: NameOf) => IncidentWork; people: string[] }> {
  const [work, plan, lanes, history, secondaries, mergedFrom, agencies, derived] = await Promise.all([
    readWork(db, row),
    viewPlanOf(db, row),
    listLanes(db, row.id),
    listLaneHistory(db, row.id),
    listLinked(db, row.id, 'secondaryOf'),
    listLinked(db, row.id, 'mergedInto'),
    showCalled(db, row.id),
    deriveTimes(db, row.id),
  ]);
  const links = await findLinks(
    db,
    [work.secondaryOf, work.mergedInto].flatMap((id) => id ?? []),
  );
  const { conflicts } = settleTimes({ ...work.set, openedAt: work.times.openedAt }, derived);
  const show = (nameOf: NameOf): IncidentWork => ({
    times: shownTimes(work, conflicts),
    roadwayClearance: secondsSinceOpening(work.times, 'lanesOpenAt'),
    incidentClearance: secondsSinceOpening(work.times, 'lastLeftAt'),
    isFalseAlarm: work.isFalseAlarm,
    injured: work.injured,
    hazardous: work.hazardous,
    heavyVehicle: work.heavyVehicle,
    responderStruck: work.responderStruck,
    lanes: lanes.map((each) => shownLanes(each, nameOf)),
    laneHistory: history.map((each) => shownLanes(each, nameOf)),
    agencies,
    plan: plan.show(nameOf),
    mergedInto: (work.mergedInto && links.get(work.mergedInto)) || null,
    mergedFrom,
    secondaryOf: (work.secondaryOf && links.get(work.secondaryOf)) || null,
    secondaries,
  });
  return { work, show, people: [...history.map(({ userId }) => userId), ...plan.people] };
}

function shownLanes({ userId, ...row }: LaneRow, nameOf: NameOf): LaneEntry {
  return { ...row, by: nameOf(userId) };
}

function shownTimes({ set, times }: Work, conflicts: Conflicts): IncidentWork['times'] {
  return incidentTimes.map((name) => {
    const at = times[name];
    const conflict = conflicts[name];
    return {
      name,
      at: at === undefined ? null : new Date(at),
      source: at === undefined ? null : set[name] === undefined ? ('DERIVED' as const) : ('SET' as const),
      conflict: conflict ? { at: new Date(conflict.at), other: conflict.other } : null,
    };
  });
}
