import type { Agency, CreateAgencyInput, UpdateAgencyInput } from '@gantry/contract/agencies';
import { type AgencyTime, agencyTimes } from '@gantry/contract/incident-states';
import {
  type AddAgencyInput,
  MAX_CALLED_AGENCIES,
  type UpdateCalledInput,
} from '@gantry/contract/incident-work';
import type { Incident } from '@gantry/contract/incidents';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext } from '../platform/context.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { given, givenFields } from '../platform/given.ts';
import { resolveTime } from '../platform/time.ts';
import {
  type CalledRow,
  deleteAgencyRow,
  deleteCalled,
  getAgency,
  insertAgency,
  insertCalled,
  isCalled,
  listCalled,
  updateAgencyRow,
  updateCalled,
} from './agencies-store.ts';
import type { IncidentContext } from './change.ts';
import { changeWork, nowFor } from './work.ts';

// The agencies, and those that are called to an incident.

/** @throws AppError `badRequest` when the name is taken, or there are too many */
export function createAgency(
  { app, actor, caller }: ActorContext,
  fields: CreateAgencyInput,
): Promise<Agency> {
  return inTransaction(app.db, async (tx) => {
    const row = await insertAgency(tx, fields);
    await recordActivity(tx, actor.id, caller, 'agencies.create', { agencyId: row.id, name: row.name });
    return row;
  });
}

/** Sets the given fields. @throws AppError `notFound`; `badRequest` when the name is taken */
export function updateAgency(
  { app, actor, caller }: ActorContext,
  { id, ...changes }: UpdateAgencyInput,
): Promise<Agency> {
  return inTransaction(app.db, async (tx) => {
    const row = await updateAgencyRow(tx, id, given(changes));
    const details = { agencyId: row.id, name: row.name, fields: givenFields(changes) };
    await recordActivity(tx, actor.id, caller, 'agencies.update', details);
    return row;
  });
}

/** @throws AppError `notFound` */
export function deleteAgency({ app, actor, caller }: ActorContext, id: string): Promise<string> {
  return inTransaction(app.db, async (tx) => {
    const { id: agencyId, name } = await deleteAgencyRow(tx, id);
    await recordActivity(tx, actor.id, caller, 'agencies.delete', { agencyId, name });
    return agencyId;
  });
}

type Times = { readonly [Time in AgencyTime]: Date | null };
type GivenTimes = { readonly [Time in AgencyTime]?: string | null | undefined };

/**
 * The times of a unit after a change.
 * @throws AppError `badRequest` for a time after now, or two in the wrong order
 */
function timesAfter(ctx: IncidentContext, before: Times, input: GivenTimes, openedAt: Date): Times {
  const { timezone } = ctx.app.settings.current();
  const now = nowFor(ctx, { openedAt: openedAt.getTime() });
  const times: Record<AgencyTime, Date | null> = { ...before };
  for (const name of agencyTimes) {
    const value = input[name];
    if (value === undefined) continue;
    const at = value === null ? null : value === 'now' ? now : resolveTime(value, timezone);
    if (at !== null && at > now)
      throw invalidInput(name, `${new Date(at).toISOString()} is after now: enter it once it is reached`);
    times[name] = at === null ? null : new Date(at);
  }
  requireOrder(times);
  return times;
}

const words: Readonly<Record<AgencyTime, string>> = {
  notifiedAt: 'notified',
  dispatchedAt: 'dispatched',
  arrivedAt: 'arrived',
  leftAt: 'left',
};

function requireOrder(times: Times): void {
  let before: AgencyTime | null = null;
  for (const name of agencyTimes) {
    const at = times[name];
    const last = before && times[before];
    if (at === null) continue;
    if (before && last && last > at)
      throw invalidInput(
        name,
        `A unit cannot have ${words[name]} at ${at.toISOString()}, before it was ${words[before]} at ${last.toISOString()}: correct one of them`,
      );
    before = name;
  }
}

const NO_TIMES: Times = { notifiedAt: null, dispatchedAt: null, arrivedAt: null, leftAt: null };

/**
 * Calls an agency, or one of its units, to an incident.
 * @throws AppError as `changeIncident` does; `badRequest` for an agency that does not exist or was called already, too
 * many of them, and times as `updateCalledAgency`
 */
export function addAgency(
  ctx: IncidentContext,
  { id, agencyId, unit, ...input }: AddAgencyInput,
): Promise<Incident> {
  return changeWork(ctx, { id, action: 'addAgency' }, async (tx, before, work) => {
    const agency = await getAgency(tx, agencyId).catch((error: unknown) => {
      throw error instanceof AppError
        ? invalidInput('agencyId', 'No agency has this id: use the id of an existing one')
        : error;
    });
    const { name, kind } = agency;
    if (await isCalled(tx, before.id, agency.id, unit))
      throw invalidInput(
        unit === null ? 'agencyId' : 'unit',
        `${name}${unit === null ? '' : ` (${unit})`} was called to this incident already: name another unit`,
      );
    if ((await listCalled(tx, before.id)).length >= MAX_CALLED_AGENCIES)
      throw new AppError(
        'badRequest',
        `${MAX_CALLED_AGENCIES} units were called to this incident: remove one first`,
      );
    const times = timesAfter(ctx, NO_TIMES, input, before.openedAt);
    await insertCalled(tx, {
      ...{ incidentId: before.id, agencyId: agency.id, name, kind, unit, addedBy: ctx.actor.id },
      ...times,
    });
    return { work, details: { agency: { name, unit, ...changesOf(NO_TIMES, times) } } };
  });
}

/** Sets the unit and the times of an agency at an incident. @throws AppError as `addAgency`; `badRequest` without such an entry */
export function updateCalledAgency(
  ctx: IncidentContext,
  { id, entryId, unit, ...input }: UpdateCalledInput,
): Promise<Incident> {
  return changeWork(ctx, { id, action: 'updateAgency' }, async (tx, before, work) => {
    const entry = entryOf(await listCalled(tx, before.id), entryId);
    const times = timesAfter(ctx, entry, input, before.openedAt);
    const changes = changesOf(entry, times);
    const isRenamed = unit !== undefined && unit !== entry.unit;
    if (!isRenamed && Object.keys(changes).length === 0) return null;
    if (isRenamed && entry.agencyId !== null && (await isCalled(tx, before.id, entry.agencyId, unit)))
      throw invalidInput(
        'unit',
        `This unit of ${entry.name} was called to this incident already: name another one`,
      );
    await updateCalled(tx, entry.id, { ...times, ...(isRenamed && { unit }) });
    return {
      work,
      details: { agency: { name: entry.name, unit: isRenamed ? unit : entry.unit, ...changes } },
    };
  });
}

/** Removes an agency that was called by mistake. @throws AppError as `updateCalledAgency` */
export function removeCalledAgency(
  ctx: IncidentContext,
  { id, entryId }: { readonly id: string; readonly entryId: string },
): Promise<Incident> {
  return changeWork(ctx, { id, action: 'removeAgency' }, async (tx, before, work) => {
    const { id: known, name, unit } = entryOf(await listCalled(tx, before.id), entryId);
    await deleteCalled(tx, known);
    return { work, details: { agency: { name, unit } } };
  });
}

function entryOf(entries: readonly CalledRow[], entryId: string): CalledRow {
  const entry = entries.find(({ id }) => id === entryId.toLowerCase());
  if (!entry)
    throw invalidInput(
      'entryId',
      'No agency of this incident has this id: use one of `work.agencies` of incidents.getById',
    );
  return entry;
}

/** The times that differ, as the timeline has them. */
function changesOf(before: Times, after: Times): Record<string, unknown> {
  const iso = (at: Date | null) => at?.toISOString() ?? null;
  return Object.fromEntries(
    agencyTimes
      .filter((name) => iso(before[name]) !== iso(after[name]))
      .map((name) => [name, { from: iso(before[name]), to: iso(after[name]) }]),
  );
}
