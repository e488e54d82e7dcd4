import { caseFold } from '@gantry/contract/case-fold';
import {
  type CaseStats,
  type CaseStatsInput,
  type CaseSummary,
  type ListCasesInput,
  MAX_OPEN_CASES,
} from '@gantry/contract/cases';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { mayDo } from '@gantry/contract/permissions';
import { plateKey } from '@gantry/contract/plate';
import { and, asc, count, desc, eq, inArray, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import type { Actor } from '../platform/context.ts';
import { caseFolded } from '../platform/database/case-folded.ts';
import { isWithin } from '../platform/database/moment.ts';
import { cases } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { AppError, found } from '../platform/error.ts';
import type { Interval } from '../platform/time.ts';

export type CaseRow = typeof cases.$inferSelect;
export type NewCase = typeof cases.$inferInsert;

/** Cases as lists and streams show them. */
export async function showCases(db: Executor, rows: readonly CaseRow[]): Promise<CaseSummary[]> {
  const nameOf = await findNames(
    db,
    rows.flatMap((row) => [row.openedBy, row.firstBy, row.secondBy, row.decidedBy]),
  );
  return rows.map((row) => ({
    id: row.id,
    number: row.number,
    kind: row.kind,
    state: row.state,
    version: row.version,
    violationType: row.violationType,
    title: row.title,
    eventId: row.eventId,
    incidentId: row.incidentId,
    hitId: row.hitId,
    sensorId: row.sensorId,
    sensorName: row.sensorName,
    locationName: row.locationName,
    licensePlateNumber: row.plate,
    plateRegion: row.plateRegion,
    happenedAt: row.happenedAt,
    openedAt: row.openedAt,
    openedBy: nameOf(row.openedBy),
    needsSecond: row.needsSecond,
    firstBy: nameOf(row.firstBy),
    firstAt: row.firstAt,
    secondBy: nameOf(row.secondBy),
    secondAt: row.secondAt,
    decidedBy: nameOf(row.decidedBy),
    decidedAt: row.decidedAt,
    code: row.code,
    codeText: row.codeText,
    failed: (row.checks ?? []).filter(({ result }) => result === 'FAIL').map(({ name }) => name),
    lockedAt: row.lockedAt,
    closedAt: row.closedAt,
  }));
}

/** One of them. */
export async function showCase(db: Executor, row: CaseRow): Promise<CaseSummary> {
  const [shown] = await showCases(db, [row]);
  if (!shown) throw new Error('The case has disappeared');
  return shown;
}

const NUMBER = /^\d{4}-\d{6,9}$/;

/** The condition for a case with this id or number; null if there can be none. */
function named(idOrNumber: string): SQL | null {
  if (isUuid(idOrNumber)) return eq(cases.id, idOrNumber);
  return NUMBER.test(idOrNumber) ? eq(cases.number, idOrNumber) : null;
}

/** @param idOrNumber of the case @throws AppError `notFound` */
export async function getCaseRow(db: Executor, idOrNumber: string): Promise<CaseRow> {
  const wanted = named(idOrNumber);
  return found(wanted ? await db.select().from(cases).where(wanted) : [], 'Case');
}

/** Locks a case until the transaction ends. @throws AppError `notFound` */
export async function lockCase(tx: Transaction, idOrNumber: string): Promise<CaseRow> {
  const wanted = named(idOrNumber);
  return found(wanted ? await tx.select().from(cases).where(wanted).for('no key update') : [], 'Case');
}

/** Locks a case until the transaction ends, if it has not been removed. */
export async function lockCaseIfAny(tx: Transaction, id: string): Promise<CaseRow | null> {
  const [row] = await tx.select().from(cases).where(eq(cases.id, id)).for('no key update');
  return row ?? null;
}

/** What a case is about. */
export interface CaseSubject {
  readonly kind: CaseRow['kind'];
  readonly id: string;
}

/** The case about something, if there is one. */
export async function findCaseOf(db: Executor, { kind, id }: CaseSubject): Promise<CaseRow | null> {
  const column = { VIOLATION: cases.eventId, INCIDENT: cases.incidentId, HIT: cases.hitId }[kind];
  const [row] = await db
    .select()
    .from(cases)
    .where(and(eq(cases.kind, kind), eq(column, id)));
  return row ?? null;
}

/** How many more cases may be opened. */
export async function roomForCases(db: Executor): Promise<number> {
  return MAX_OPEN_CASES - (await db.$count(cases, isNull(cases.closedAt)));
}

/**
 * The number of the next case of a year. Transactions that open cases take turns from here on.
 * @throws AppError `badRequest` when too many are open
 */
export async function nextNumber(tx: Transaction, year: number): Promise<string> {
  const { rows } = await tx.execute<{ last: number }>(sql`
    INSERT INTO case_numbers AS known (year, last) VALUES (${year}, 1)
    ON CONFLICT (year) DO UPDATE SET last = known.last + 1 RETURNING last`);
  if ((await roomForCases(tx)) <= 0)
    throw new AppError('badRequest', `${MAX_OPEN_CASES} cases are open: close some of them first`);
  return `${year}-${String(rows[0]?.last).padStart(6, '0')}`;
}

export async function insertCase(tx: Transaction, fields: NewCase): Promise<CaseRow> {
  return found(await tx.insert(cases).values(fields).returning(), 'Case');
}

/**
 * Changes a case that is locked.
 * @param only a further condition, which the database checks
 * @returns the case afterwards; null if the condition is not met
 */
export async function updateCase(
  tx: Transaction,
  { id, version }: Pick<CaseRow, 'id' | 'version'>,
  fields: Partial<Omit<NewCase, 'version'>>,
  only?: SQL,
): Promise<CaseRow | null> {
  const [row] = await tx
    .update(cases)
    .set({ ...fields, version: version + 1 })
    .where(and(eq(cases.id, id), eq(cases.version, version), only))
    .returning();
  return row ?? null;
}

/** The condition for cases of which the user may be the second person. */
export function mayBeSecond(userId: string): SQL {
  return sql`(NOT needs_second OR first_by <> ${userId}::uuid)`;
}

const PART_OF_NUMBER = /^[\d-]+$/;

/** A page of cases. */
export async function listCases(
  db: Executor,
  { id: userId }: Pick<Actor, 'id'>,
  input: ListCasesInput & { readonly plate: string | undefined },
  interval: Interval,
): Promise<Page<CaseRow>> {
  const { states, kinds, violationType, code, sensorId, search, plate, mine, closed } = input;
  const key = plate === undefined ? '' : plateKey(plate);
  const wanted = and(
    states && inArray(cases.state, states),
    kinds && inArray(cases.kind, kinds),
    violationType === undefined
      ? undefined
      : sql`${caseFolded(cases.violationType)} = ${caseFold(violationType)}`,
    code && eq(cases.code, code),
    sensorId === undefined
      ? undefined
      : isUuid(sensorId)
        ? eq(cases.sensorId, sensorId.toLowerCase())
        : sql`false`,
    search === undefined
      ? undefined
      : or(
          // No index finds a part of a number, so that is looked for only where there can be one.
          PART_OF_NUMBER.test(search) ? sql`strpos(number, ${search}) > 0` : sql`false`,
          key === '' ? undefined : eq(cases.plateKey, key),
        ),
    mine === 'FIRST' ? eq(cases.firstBy, userId) : undefined,
    mine === 'SECOND'
      ? and(eq(cases.state, 'CHECKED'), isNull(cases.closedAt), mayBeSecond(userId))
      : undefined,
    closed === undefined ? undefined : closed ? isNotNull(cases.closedAt) : isNull(cases.closedAt),
    isWithin(cases.happenedAt, interval),
  );
  const order =
    input.sortBy === 'age'
      ? input.sortOrder === 'desc'
        ? [asc(cases.happenedAt), asc(cases.id)]
        : [desc(cases.happenedAt), desc(cases.id)]
      : [(input.sortOrder === 'desc' ? desc : asc)(cases.number)];
  // Plan: cases_open or cases_open_by_time of those that are open; otherwise by the plate, type, code, sensor or person.
  const rows = await db
    .select()
    .from(cases)
    .where(wanted)
    .orderBy(...order)
    .limit(input.take)
    .offset(input.skip);
  const [counted] = await db.select({ total: count() }).from(cases).where(wanted);
  return { items: rows, total: counted?.total ?? 0 };
}

/** The numbers of cases that wait for a user. */
export async function countWaiting(
  db: Executor,
  { id, role }: Pick<Actor, 'id' | 'role'>,
): Promise<{ check: number; second: number; decide: number }> {
  // Plan: cases_open.
  const { rows } = await db.execute<{ check: number; second: number; decide: number }>(sql`
    SELECT count(*) FILTER (WHERE state = 'NEW') AS check,
      count(*) FILTER (WHERE state = 'CHECKED' AND ${mayBeSecond(id)}) AS second,
      count(*) FILTER (WHERE state = 'DISPUTED' AND ${id}::uuid NOT IN (first_by, second_by)) AS decide
    FROM cases WHERE closed_at IS NULL`);
  const { check = 0, second = 0, decide = 0 } = rows[0] ?? {};
  return { check, second, decide: mayDo(role, 'decideCases') ? decide : 0 };
}

const GROUPS = {
  code: sql`code`,
  sensor: sql`sensor_id::text`,
  state: sql`state`,
  type: sql`violation_type`,
};
/** Maximum number of groups of cases. */
const MAX_GROUPS = 1_000;

/** Numbers of cases of an interval, in groups. */
export async function countCases(
  db: Executor,
  { by }: Pick<CaseStatsInput, 'by'>,
  interval: Interval,
): Promise<CaseStats> {
  const { rows } = await db.execute<CaseStats['rows'][number] & Record<string, unknown>>(sql`
    SELECT ${GROUPS[by]} AS key, ${by === 'sensor' ? sql`max(sensor_name)` : sql`NULL`} AS name, count(*) AS count,
      count(*) FILTER (WHERE state = 'REJECTED') AS rejected, count(*) FILTER (WHERE code = 'EQUIPMENT') AS equipment
    FROM cases WHERE ${isWithin(cases.happenedAt, interval) ?? sql`true`}
    GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT ${MAX_GROUPS}`);
  const total = await db.$count(cases, isWithin(cases.happenedAt, interval));
  return { rows, total };
}
