import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import type { ListStudiesInput } from '@gantry/contract/studies';
import { and, count, desc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import { studies } from '../../platform/database/tables.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { AppError, notFound } from '../../platform/error.ts';
import type { WantedPlace } from '../places-store.ts';
import { getAnyPoint } from '../points-store.ts';

export type StudyRow = typeof studies.$inferSelect;

/** A study without its data and figures, which may be large. */
export type StudyHead = Omit<StudyRow, 'data' | 'figures'>;

const { data: _, figures: __, ...head } = getTableColumns(studies);

type NewStudy = Omit<typeof studies.$inferInsert, 'id' | 'status'>;

export async function insertStudy(db: Executor, study: NewStudy): Promise<StudyHead> {
  const [row] = await db.insert(studies).values(study).returning(head);
  if (!row) throw new Error('PostgreSQL did not return the inserted study');
  return row;
}

/** @throws AppError `notFound` */
export async function getStudyHead(db: Executor, id: string): Promise<StudyHead> {
  const [row] = isUuid(id) ? await db.select(head).from(studies).where(eq(studies.id, id)) : [];
  if (!row) throw notFound('Study');
  return row;
}

/** @throws AppError `notFound` */
export async function getStudyRow(db: Executor, id: string): Promise<StudyRow> {
  const [row] = isUuid(id) ? await db.select().from(studies).where(eq(studies.id, id)) : [];
  if (!row) throw notFound('Study');
  return row;
}

/** One page of the studies, newest first. */
export async function listStudies(
  db: Executor,
  { kind, status, skip, take }: ListStudiesInput,
): Promise<Page<StudyHead>> {
  const wanted = and(kind && eq(studies.kind, kind), status && eq(studies.status, status));
  const items = await db
    .select(head)
    .from(studies)
    .where(wanted)
    .orderBy(desc(studies.createdAt), desc(studies.id))
    .limit(take)
    .offset(skip);
  const [counted] = await db.select({ total: count() }).from(studies).where(wanted);
  return { items, total: counted?.total ?? 0 };
}

/** What a study becomes. */
type Change = Partial<{ [Field in keyof NewStudy]: NewStudy[Field] | SQL }> & Pick<StudyRow, 'status'>;

/**
 * Changes a study that still has a status. Of several such changes at once, one is made.
 * @throws AppError `notFound`; `conflict` if it has another status
 */
export async function changeStudy(
  db: Executor,
  { id, status }: Pick<StudyRow, 'id' | 'status'>,
  change: Change,
): Promise<StudyHead> {
  const [row] = await db
    .update(studies)
    .set(change)
    .where(and(eq(studies.id, id), eq(studies.status, status)))
    .returning(head);
  if (row) return row;
  throw wrongStatus(await getStudyHead(db, id), status);
}

/** @throws AppError `conflict` if it is neither a draft nor rejected any more */
export async function deleteStudyRow(db: Executor, id: string): Promise<void> {
  const { rowCount } = await db
    .delete(studies)
    .where(and(eq(studies.id, id), sql`${studies.status} IN ('DRAFT', 'REJECTED')`));
  if (rowCount === 0) throw wrongStatus(await getStudyHead(db, id), 'DRAFT or REJECTED');
}

/** The error about a study that does not have the status that a change needs. */
export function wrongStatus({ status }: Pick<StudyRow, 'status'>, needed: string): AppError {
  return new AppError('conflict', `The study is ${status}, and this needs one that is ${needed}`);
}

/** The name of a place; that of a point follows that of its location. @throws AppError `notFound` */
export async function getPlaceName(
  db: Executor,
  { sensorId, locationId, pointId }: Pick<WantedPlace, 'sensorId' | 'locationId' | 'pointId'>,
): Promise<string> {
  if (pointId !== undefined) {
    const point = await getAnyPoint(db, pointId);
    const location = await getPlaceName(db, { locationId: point.locationId });
    return point.id === point.locationId ? location : `${location}, ${point.name}`;
  }
  const [id, table, noun] =
    locationId === undefined
      ? [sensorId ?? '', sql`sensors`, 'Sensor']
      : [locationId, sql`locations`, 'Location'];
  const { rows } = isUuid(id)
    ? await db.execute<{ name: string }>(sql`SELECT name FROM ${table} WHERE id = ${id}`)
    : { rows: [] };
  const [row] = rows;
  if (!row) throw notFound(noun);
  return row.name;
}
