import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { type ListWorksInput, MAX_WORKS, type Works } from '@gantry/contract/works';
import { and, asc, count, desc, eq, inArray, or, type SQL, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { caseFolded, contains, sortedName } from '../platform/database/case-folded.ts';
import { lockAdditions } from '../platform/database/locks.ts';
import { moment } from '../platform/database/moment.ts';
import { sensors, works, worksWindows } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { AppError, found } from '../platform/error.ts';
import type { Interval } from '../platform/time.ts';
import type { Schedule } from './schedule.ts';

export type WorksRow = typeof works.$inferSelect;
export type NewWorks = typeof works.$inferInsert;

/** When works are in force. */
export function scheduleOf({
  startsAt,
  endsAt,
  timezone,
  recurrence,
}: Pick<WorksRow, 'startsAt' | 'endsAt' | 'timezone' | 'recurrence'>): Schedule {
  return { startsAt: startsAt.getTime(), endsAt: endsAt.getTime(), timezone, recurrence };
}

/** Works as the API returns them. */
export async function showWorks(db: Executor, rows: readonly WorksRow[]): Promise<Works[]> {
  const people = rows.flatMap((row) => [row.createdBy, row.proposedBy, row.approvedBy, row.cancelledBy]);
  const nameOf = await findNames(db, people);
  const active = rows.filter(({ state }) => state === 'ACTIVE').map(({ id }) => id);
  const open =
    active.length === 0
      ? []
      : await db
          .select({ worksId: worksWindows.worksId, incidentId: worksWindows.incidentId })
          .from(worksWindows)
          .where(and(inArray(worksWindows.worksId, active), eq(worksWindows.state, 'ACTIVE')));
  const incidentOf = new Map(open.map(({ worksId, incidentId }) => [worksId, incidentId]));
  return rows.map(({ windowFrom, windowUntil, nextAt: _, ...row }) => ({
    ...row,
    window: windowFrom && windowUntil && { from: windowFrom, until: windowUntil },
    incidentId: incidentOf.get(row.id) ?? null,
    createdBy: nameOf(row.createdBy),
    proposedBy: nameOf(row.proposedBy),
    approvedBy: nameOf(row.approvedBy),
    cancelledBy: nameOf(row.cancelledBy),
  }));
}

/** One of them. */
export async function showOne(db: Executor, row: WorksRow): Promise<Works> {
  const [shown] = await showWorks(db, [row]);
  if (!shown) throw new Error('Works have disappeared');
  return shown;
}

/** @throws AppError `notFound` */
export async function getWorksRow(db: Executor, id: string): Promise<WorksRow> {
  return found(isUuid(id) ? await db.select().from(works).where(eq(works.id, id)) : [], 'Works');
}

/** Locks works until the transaction ends. @throws AppError `notFound` */
export async function lockWorks(tx: Transaction, id: string): Promise<WorksRow> {
  return found(
    isUuid(id) ? await tx.select().from(works).where(eq(works.id, id)).for('no key update') : [],
    'Works',
  );
}

/** Claims works whose turn has come; null if there are none, or other processes have them. @param except ids of others */
export async function claimDue(tx: Transaction, except: readonly string[]): Promise<WorksRow | null> {
  // Plan: works_due.
  const [row] = await tx
    .select()
    .from(works)
    .where(sql`next_at <= clock_timestamp() AND id <> ALL (${sql.param([...except])}::uuid[])`)
    .orderBy(works.nextAt)
    .limit(1)
    .for('no key update', { skipLocked: true });
  return row ?? null;
}

/** Whether any works are approved, so that there will be a turn. */
export async function hasTurns(db: Executor): Promise<boolean> {
  const { rows } = await db.execute<{ has: boolean }>(
    sql`SELECT EXISTS (SELECT FROM works WHERE next_at IS NOT NULL) AS has`,
  );
  return rows[0]?.has === true;
}

const NOT_OVER = sql.raw(`state IN ('DRAFT', 'APPROVED', 'ACTIVE')`);

/** @throws AppError `badRequest` when there are too many */
export async function insertWorks(tx: Transaction, fields: NewWorks): Promise<WorksRow> {
  await lockAdditions(tx, 'works');
  if ((await tx.$count(works, NOT_OVER)) >= MAX_WORKS)
    throw new AppError('badRequest', `${MAX_WORKS} works are not over: cancel some of them first`);
  return found(await tx.insert(works).values(fields).returning(), 'Works');
}

/** Changes works that are locked. */
export async function updateWorksRow(
  tx: Transaction,
  id: string,
  fields: Partial<Omit<NewWorks, 'version'>>,
  by: 'person' | 'clock',
): Promise<WorksRow> {
  const rows = await tx
    .update(works)
    .set({
      ...fields,
      ...(by === 'person' && { version: sql`${works.version} + 1` }),
      updatedAt: sql`greatest(clock_timestamp(), ${works.updatedAt})`,
    })
    .where(eq(works.id, id))
    .returning();
  return found(rows, 'Works');
}

function isRoad(road: string): SQL {
  return sql`${caseFolded(works.road)} = ${caseFolded(road)}`;
}

/** A page of works, by their next window or, where there is none, by their start. */
export async function listWorks(
  db: Executor,
  input: ListWorksInput,
  { from, until }: Interval,
): Promise<Page<WorksRow>> {
  const { states, kind, road, sensorId, locationId, search } = input;
  const idIn = (id: string, condition: (known: string) => SQL): SQL =>
    isUuid(id) ? condition(id) : sql`false`;
  const wanted = and(
    states && inArray(works.state, states),
    kind && eq(works.kind, kind),
    road === undefined ? undefined : isRoad(road),
    sensorId === undefined ? undefined : idIn(sensorId, (id) => sql`${id}::uuid = ANY (sensor_ids)`),
    locationId === undefined ? undefined : idIn(locationId, (id) => eq(works.locationId, id)),
    search === undefined
      ? undefined
      : or(...[works.title, works.road, works.contact].map((each) => contains(each, search))),
    Number.isFinite(from) ? sql`ends_at > ${moment(from)}` : undefined,
    Number.isFinite(until) ? sql`starts_at < ${moment(until)}` : undefined,
  );
  const direction = input.sortOrder === 'desc' ? desc : asc;
  const rows = await db
    .select()
    .from(works)
    .where(wanted)
    .orderBy(direction(sql`coalesce(window_from, starts_at)`), direction(works.id))
    .limit(input.take)
    .offset(input.skip);
  const [counted] = await db.select({ total: count() }).from(works).where(wanted);
  return { items: rows, total: counted?.total ?? 0 };
}

/** Maximum number of works that are compared with one. */
const MAX_COMPARED = 500;

/**
 * Works that are not over, on the same carriageway and with kilometres in common, that may be in force at the same time. Works without
 * kilometres concern the whole road, and those without a direction both carriageways.
 */
export async function findOnCarriageway(db: Executor, of: WorksRow): Promise<WorksRow[]> {
  if (of.road === null) return [];
  const low = sql`coalesce(least(from_kilometre, to_kilometre), -1e9)`;
  const high = sql`coalesce(greatest(from_kilometre, to_kilometre), 1e9)`;
  const ends = [of.fromKilometre, of.toKilometre].filter((each) => each !== null);
  const isOneSided = of.direction !== null && of.direction !== 'BOTH';
  return db
    .select()
    .from(works)
    .where(
      and(
        NOT_OVER,
        sql`id <> ${of.id}::uuid`,
        isRoad(of.road),
        isOneSided ? sql`coalesce(direction, 'BOTH') IN ('BOTH', ${of.direction})` : undefined,
        ends.length === 0
          ? undefined
          : sql`${low} <= ${Math.max(...ends)} AND ${high} >= ${Math.min(...ends)}`,
        sql`starts_at < ${moment(of.endsAt.getTime())} AND ends_at > ${moment(of.startsAt.getTime())}`,
      ),
    )
    .orderBy(works.startsAt, works.id)
    .limit(MAX_COMPARED);
}

/** The ids of sensors, as stored. */
export async function findSensors(
  db: Executor,
  ids: readonly string[],
): Promise<{ id: string; name: string }[]> {
  const wanted = ids.filter(isUuid);
  if (wanted.length === 0) return [];
  return db
    .select({ id: sensors.id, name: sensors.name })
    .from(sensors)
    .where(inArray(sensors.id, wanted))
    .orderBy(sortedName(sensors.name), sensors.id);
}
