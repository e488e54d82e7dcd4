import { type Agency, type ListAgenciesInput, MAX_AGENCIES } from '@gantry/contract/agencies';
import { isUuid } from '@gantry/contract/id';
import type { CalledAgency } from '@gantry/contract/incident-work';
import { and, asc, count, eq, getTableColumns, or, sql } from 'drizzle-orm';
import { caseFolded, contains, sortedName } from '../platform/database/case-folded.ts';
import { lockAdditions } from '../platform/database/locks.ts';
import { timeOfUpdate } from '../platform/database/moment.ts';
import { agencies, incidentAgencies } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { AppError, found, invalidInput } from '../platform/error.ts';

/** The agencies that meet the filters, by name. There are few. */
export function listAgencies(db: Executor, { kind, search }: ListAgenciesInput): Promise<Agency[]> {
  return db
    .select()
    .from(agencies)
    .where(
      and(
        kind && eq(agencies.kind, kind),
        search === undefined
          ? undefined
          : or(
              contains(agencies.name, search),
              contains(sql`array_to_string(${agencies.areas}, ' ')`, search),
            ),
      ),
    )
    .orderBy(sortedName(agencies.name), asc(agencies.id));
}

/** @throws AppError `notFound` */
export async function getAgency(db: Executor, id: string): Promise<Agency> {
  return found(isUuid(id) ? await db.select().from(agencies).where(eq(agencies.id, id)) : [], 'Agency');
}

async function requireFreeName(tx: Transaction, name: string, except: string | null): Promise<void> {
  const same = and(
    sql`${caseFolded(agencies.name)} = ${caseFolded(name)}`,
    except === null ? undefined : sql`${agencies.id} <> ${except}::uuid`,
  );
  if ((await tx.$count(agencies, same)) > 0)
    throw invalidInput('name', 'There is an agency with this name: use another one');
}

/** @throws AppError `badRequest` when the name is taken, or there are too many */
export async function insertAgency(tx: Transaction, fields: typeof agencies.$inferInsert): Promise<Agency> {
  await lockAdditions(tx, 'agencies');
  if ((await tx.$count(agencies)) >= MAX_AGENCIES)
    throw new AppError('badRequest', `There are ${MAX_AGENCIES} agencies already: delete one first`);
  await requireFreeName(tx, fields.name, null);
  return found(await tx.insert(agencies).values(fields).returning(), 'Agency');
}

/** Sets the given fields. @throws AppError `notFound`; `badRequest` when the name is taken */
export async function updateAgencyRow(
  tx: Transaction,
  id: string,
  fields: Partial<typeof agencies.$inferInsert>,
): Promise<Agency> {
  await lockAdditions(tx, 'agencies');
  const before = await getAgency(tx, id);
  if (fields.name !== undefined) await requireFreeName(tx, fields.name, before.id);
  const rows = await tx
    .update(agencies)
    .set({ ...fields, updatedAt: timeOfUpdate() })
    .where(eq(agencies.id, before.id))
    .returning();
  return found(rows, 'Agency');
}

/** Deletes an agency; incidents to which it was called keep its name. @throws AppError `notFound` */
export async function deleteAgencyRow(tx: Transaction, id: string): Promise<Agency> {
  return found(isUuid(id) ? await tx.delete(agencies).where(eq(agencies.id, id)).returning() : [], 'Agency');
}

// Agencies at incidents.

export type CalledRow = typeof incidentAgencies.$inferSelect;

/** The agencies that were called to an incident, in that order. */
export function listCalled(db: Executor, incidentId: string): Promise<CalledRow[]> {
  return db
    .select()
    .from(incidentAgencies)
    .where(eq(incidentAgencies.incidentId, incidentId))
    .orderBy(asc(incidentAgencies.addedAt), asc(incidentAgencies.id));
}

/** The same, as the API returns them. */
export async function showCalled(db: Executor, incidentId: string): Promise<CalledAgency[]> {
  const { incidentId: _, addedBy: _by, addedAt, ...shown } = getTableColumns(incidentAgencies);
  return db
    .select({ ...shown, phone: agencies.phone })
    .from(incidentAgencies)
    .leftJoin(agencies, eq(agencies.id, incidentAgencies.agencyId))
    .where(eq(incidentAgencies.incidentId, incidentId))
    .orderBy(asc(addedAt), asc(incidentAgencies.id));
}

/** Whether the same unit of an agency was called to the incident. */
export async function isCalled(
  tx: Transaction,
  incidentId: string,
  agencyId: string,
  unit: string | null,
): Promise<boolean> {
  const [row] = await tx
    .select({ n: count() })
    .from(incidentAgencies)
    .where(
      and(
        eq(incidentAgencies.incidentId, incidentId),
        eq(incidentAgencies.agencyId, agencyId),
        sql`${incidentAgencies.unit} IS NOT DISTINCT FROM ${unit}`,
      ),
    );
  return (row?.n ?? 0) > 0;
}

export async function insertCalled(
  tx: Transaction,
  row: typeof incidentAgencies.$inferInsert,
): Promise<void> {
  await tx.insert(incidentAgencies).values(row);
}

export async function updateCalled(tx: Transaction, id: string, fields: Partial<CalledRow>): Promise<void> {
  await tx.update(incidentAgencies).set(fields).where(eq(incidentAgencies.id, id));
}

export async function deleteCalled(tx: Transaction, id: string): Promise<void> {
  await tx.delete(incidentAgencies).where(eq(incidentAgencies.id, id));
}
