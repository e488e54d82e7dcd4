import { isUuid } from '@gantry/contract/id';
import { MAX_ROTAS, type Rota } from '@gantry/contract/rotas';
import { asc, eq, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { lockAdditions } from '../platform/database/locks.ts';
import { timeOfUpdate } from '../platform/database/moment.ts';
import { rotas } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { AppError, found } from '../platform/error.ts';
import { findReachable } from './contacts-store.ts';
import { onDuty } from './on-duty.ts';

export type RotaRow = typeof rotas.$inferSelect;

/** All rotas by name. There are few. */
export function listRotaRows(db: Executor): Promise<RotaRow[]> {
  return db
    .select()
    .from(rotas)
    .orderBy(asc(sql`lower(${rotas.name})`), asc(rotas.id));
}

/** @throws AppError `notFound` */
export async function getRotaRow(db: Executor, id: string): Promise<RotaRow> {
  const rows = isUuid(id) ? await db.select().from(rotas).where(eq(rotas.id, id)) : [];
  return found(rows, 'Rota');
}

/**
 * The ids of the users who are on duty at a time (Unix milliseconds), one for each rota; null if nobody is, or only a user who is not
 * active.
 */
export async function peopleOnDuty(
  db: Executor,
  rows: readonly RotaRow[],
  at: number,
): Promise<(string | null)[]> {
  const wanted = rows.map((row) => onDuty(row, at).userId);
  const named = wanted.flatMap((userId) => userId ?? []);
  const active = await findReachable(db, named);
  return wanted.map((wantedId) => (active.some(({ userId }) => userId === wantedId) ? wantedId : null));
}

/** The same for the rota with an id; undefined without such a rota. */
export async function personOnDuty(db: Executor, id: string, at: number): Promise<string | null | undefined> {
  const rows = isUuid(id) ? await db.select().from(rotas).where(eq(rotas.id, id)) : [];
  return (await peopleOnDuty(db, rows, at))[0];
}

export async function showRotas(db: Executor, rows: readonly RotaRow[]): Promise<Rota[]> {
  const nameOf = await findNames(
    db,
    rows.map(({ createdBy }) => createdBy),
  );
  return rows.map(({ overrides, createdBy, ...row }) => ({
    ...row,
    overrides: overrides.map(({ from, until, userId }) => ({
      from: new Date(from),
      until: new Date(until),
      userId,
    })),
    createdBy: nameOf(createdBy),
  }));
}

/** Adds a rota. @throws AppError `badRequest` when there are too many */
export async function insertRota(tx: Transaction, fields: typeof rotas.$inferInsert): Promise<RotaRow> {
  await lockAdditions(tx, 'rotas');
  if ((await tx.$count(rotas)) >= MAX_ROTAS)
    throw new AppError('badRequest', `There are ${MAX_ROTAS} rotas already: delete one first`);
  return found(await tx.insert(rotas).values(fields).returning(), 'Rota');
}

/** Locks a rota until the transaction ends. @throws AppError `notFound` */
export async function lockRota(tx: Transaction, id: string): Promise<RotaRow> {
  const rows = isUuid(id) ? await tx.select().from(rotas).where(eq(rotas.id, id)).for('update') : [];
  return found(rows, 'Rota');
}

export async function updateRotaRow(tx: Transaction, id: string, fields: Partial<RotaRow>): Promise<RotaRow> {
  const rows = await tx
    .update(rotas)
    .set({ ...fields, updatedAt: timeOfUpdate() })
    .where(eq(rotas.id, id))
    .returning();
  return found(rows, 'Rota');
}

/** @throws AppError `notFound` */
export async function deleteRotaRow(tx: Transaction, id: string): Promise<RotaRow> {
  const rows = isUuid(id) ? await tx.delete(rotas).where(eq(rotas.id, id)).returning() : [];
  return found(rows, 'Rota');
}
