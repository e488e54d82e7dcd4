import { isDeepStrictEqual } from 'node:util';
import { caseFold } from '@gantry/contract/case-fold';
import {
  type FormerSensor,
  MAX_LISTED_ROWS,
  type RestoreManyInput,
  type UpdateManyInput,
  type UpdateManyOutput,
} from '@gantry/contract/fleet';
import { MAX_TAGS } from '@gantry/contract/sensors';
import { recordActivity } from '../activity/store.ts';
import { isForeignKeyViolation } from '../platform/database/failure.ts';
import { channels, notify } from '../platform/database/notify.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { given, givenFields } from '../platform/given.ts';
import { textOf } from './files/fields.ts';
import { listLocationNames } from './files/store.ts';
import { changeMany, listMany, type OneOfMany, type SharedFields } from './many-store.ts';
import { recordMove } from './placements-store.ts';
import {
  BY_HAND,
  forgetSensors,
  requireLocationForm,
  type SensorContext,
  unknownLocation,
} from './service.ts';
import { publishStatus } from './status.ts';

// Changes of many sensors in one transaction, and their undoing.

/** A sensor before and after a change. */
interface Turn {
  readonly before: OneOfMany;
  readonly after: OneOfMany;
}

const FIELDS = [
  'status',
  'locationId',
  'eventsPerMin',
  'requiresHeartbeats',
  'direction',
  'make',
  'model',
  'warrantyUntil',
  'tags',
] as const satisfies readonly (keyof SharedFields)[];

/** The fields that a turn changes. */
function changedFields({ before, after }: Turn): (typeof FIELDS)[number][] {
  return FIELDS.filter((name) => !isDeepStrictEqual(before[name], after[name]));
}

/**
 * Gives several sensors the same values, all in one transaction, or none; or says what that would change.
 * @throws AppError `badRequest` naming the first of `ids` that is no sensor, or that would have too many tags; or when the
 *   location does not exist
 */
export async function updateSensors(
  ctx: SensorContext,
  { ids, addTags = [], removeTags = [], reason, dryRun, ...fields }: UpdateManyInput,
): Promise<UpdateManyOutput> {
  const { app } = ctx;
  requireLocationForm(fields.locationId);
  const turn = (sensors: readonly OneOfMany[], names: ReadonlyMap<string, string>): Turn[] => {
    requireAll(sensors, ids, 'ids.');
    if (fields.locationId && !names.has(fields.locationId.toLowerCase())) throw unknownLocation();
    return sensors.map((before) => {
      const tags = changedTags(before, addTags, removeTags);
      const after = { ...before, ...given(fields), ...(tags && { tags }) } as OneOfMany;
      const locationId = after.locationId?.toLowerCase() ?? null;
      return { before, after: { ...after, locationId, locationName: names.get(locationId ?? '') ?? null } };
    });
  };
  if (dryRun) {
    const turns = turn(await listMany(app.db, ids, false), await namesOfLocations(app.db));
    return { ...describe(turns), former: [] };
  }
  const isTagged = addTags.length + removeTags.length > 0;
  return change(ctx, {
    action: 'sensors.updateMany',
    reason,
    details: { fields: [...givenFields(fields), ...(isTagged ? ['tags'] : [])], ...(reason && { reason }) },
    turns: async (tx) => turn(await listMany(tx, ids, true), await namesOfLocations(tx)),
  });
}

/**
 * Gives sensors back what they had before `updateSensors`, all in one transaction, or none.
 * @throws AppError `conflict` naming the first that something changed since; `badRequest` as `updateSensors`
 */
export async function restoreSensors(
  ctx: SensorContext,
  { sensors: former }: RestoreManyInput,
): Promise<{ restored: number }> {
  const ids = former.map(({ id }) => id);
  for (const { locationId } of former) requireLocationForm(locationId);
  const byId = new Map(former.map((each) => [each.id.toLowerCase(), each]));
  const { changed } = await change(ctx, {
    action: 'sensors.restoreMany',
    reason: null,
    details: {},
    turns: async (tx) => {
      const sensors = await listMany(tx, ids, true);
      requireAll(sensors, ids, 'sensors.');
      return sensors.map((before) => {
        const { id: _, updatedAt, ...fields } = byId.get(before.id) as RestoreManyInput['sensors'][number];
        if (before.updatedAt.getTime() !== Date.parse(updatedAt))
          throw new AppError(
            'conflict',
            `Nothing was restored: ${JSON.stringify(before.name)} has changed since. Change it by hand instead`,
          );
        return { before, after: { ...before, ...given(fields) } as OneOfMany };
      });
    },
  });
  return { restored: changed };
}

interface Plan {
  readonly action: 'sensors.updateMany' | 'sensors.restoreMany';
  readonly reason: string | null | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  /** What to change, of sensors that it locks. */
  readonly turns: (tx: Transaction) => Promise<readonly Turn[]>;
}

/** The number of sensors that an entry of the activity log names. */
const NAMED = 20;

async function change(
  ctx: SensorContext,
  { action, reason, details, turns: find }: Plan,
): Promise<UpdateManyOutput> {
  const { app, actor, caller } = ctx;
  try {
    const output = await inTransaction(app.db, async (tx) => {
      const turns = await find(tx);
      const changing = turns.filter((turn) => changedFields(turn).length > 0);
      const why = reason || BY_HAND;
      const wanted = changing.map(({ after }) => after);
      const changed =
        wanted.length === 0 ? [] : await changeMany(tx, wanted, { reason: why, userId: actor.id });
      for (const { before, after } of changing)
        if (before.locationId !== after.locationId)
          await recordMove(tx, before.id, before.locationId, after.locationId);
      const turned = changed.filter(({ from, to }) => from !== to);
      await publishStatus(
        app,
        tx,
        turned.map(({ updatedAt: _, ...outcome }) => outcome),
        why,
      );
      const names = turns.slice(0, NAMED).map(({ before }) => before.name);
      await recordActivity(tx, actor.id, caller, action, { sensors: turns.length, names, ...details });
      await notify(tx, channels.sensors, '*');
      const updated = new Map(changed.map(({ sensorId, updatedAt }) => [sensorId, updatedAt]));
      const former = changing.map((turn) => formerOf(turn, updated.get(turn.before.id) ?? new Date(0)));
      return { ...describe(turns), former };
    });
    forgetSensors(app);
    return output;
  } catch (error) {
    if (isForeignKeyViolation(error)) throw unknownLocation();
    throw error;
  }
}

function formerOf(turn: Turn, updatedAt: Date): FormerSensor {
  const fields = Object.fromEntries(changedFields(turn).map((name) => [name, turn.before[name]]));
  return { id: turn.before.id, updatedAt, ...fields };
}

/** How many sensors change, and what of the first of them, by name. */
function describe(turns: readonly Turn[]): Omit<UpdateManyOutput, 'former'> {
  const rows = turns
    .map((turn) => ({ turn, fields: changedFields(turn) }))
    .filter(({ fields }) => fields.length > 0)
    .toSorted((a, b) => a.turn.before.name.localeCompare(b.turn.before.name));
  return {
    changed: rows.length,
    same: turns.length - rows.length,
    rows: rows.slice(0, MAX_LISTED_ROWS).map(({ turn: { before, after }, fields }) => ({
      id: before.id,
      name: before.name,
      changes: fields.map((name) =>
        name === 'locationId'
          ? { field: 'location', from: before.locationName, to: after.locationName }
          : { field: name, from: textOf(before[name]), to: textOf(after[name]) },
      ),
    })),
  };
}

/** @throws AppError `badRequest` naming the first id that is no sensor */
function requireAll(sensors: readonly OneOfMany[], ids: readonly string[], path: 'ids.' | 'sensors.'): void {
  const known = new Set(sensors.map(({ id }) => id));
  const missing = ids.findIndex((id) => !known.has(id.toLowerCase()));
  if (missing >= 0)
    throw invalidInput(`${path}${missing}${path === 'ids.' ? '' : '.id'}`, 'No sensor has this id');
}

async function namesOfLocations(
  db: Parameters<typeof listLocationNames>[0],
): Promise<ReadonlyMap<string, string>> {
  return new Map((await listLocationNames(db, false)).map(({ id, name }) => [id, name]));
}

/** The tags of a sensor after a change; undefined if none is asked for. @throws AppError `badRequest` for too many */
function changedTags(
  { name, tags }: OneOfMany,
  added: readonly string[],
  removed: readonly string[],
): string[] | undefined {
  if (added.length + removed.length === 0) return undefined;
  const gone = new Set(removed.map(caseFold));
  const kept = tags.filter((tag) => !gone.has(caseFold(tag)));
  const known = new Set(kept.map(caseFold));
  const all = [...kept, ...added.filter((tag) => !known.has(caseFold(tag)))];
  if (all.length <= MAX_TAGS) return all;
  throw invalidInput(
    'addTags',
    `The sensor ${JSON.stringify(name)} would have ${all.length} tags: a sensor has at most ${MAX_TAGS}`,
  );
}
