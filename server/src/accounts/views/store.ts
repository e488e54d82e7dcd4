import { isUuid } from '@gantry/contract/id';
import {
  type CreateViewInput,
  MAX_LISTED_VIEWS,
  type SavedView,
  type UpdateViewInput,
} from '@gantry/contract/views';
import { sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../../platform/database/transaction.ts';
import { found } from '../../platform/error.ts';
import { findNames, type NameOf } from '../names-store.ts';

/** A view as it is stored. */
export interface ViewRow {
  readonly id: string;
  readonly page: string;
  readonly name: string;
  readonly search: string;
  readonly shared: boolean;
  readonly isDefault: boolean;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}
type ViewRecord = ViewRow & Record<string, unknown>;

const COLUMNS = sql.raw(
  `id, page, name, search, owner_id IS NULL AS shared, is_default AS "isDefault", created_by AS "createdBy",
   created_at AS "createdAt", updated_at AS "updatedAt"`,
);

/** The views of a page that are visible to a user: the default, then their own, then shared views of others. */
export async function listViews(db: Executor, page: string, userId: string): Promise<ViewRow[]> {
  const { rows } = await db.execute<ViewRecord>(sql`
    SELECT ${COLUMNS} FROM saved_views
    WHERE page = ${page} AND (owner_id IS NULL OR owner_id = ${userId}::uuid)
    ORDER BY is_default DESC, created_by = ${userId}::uuid DESC, lower(name), id LIMIT ${MAX_LISTED_VIEWS}`);
  return rows;
}

/** Locks a view that is visible to the user until the transaction ends. @throws AppError `notFound` */
export async function lockView(tx: Transaction, id: string, userId: string): Promise<ViewRow> {
  const { rows } = isUuid(id)
    ? await tx.execute<ViewRecord>(sql`
        SELECT ${COLUMNS} FROM saved_views
        WHERE id = ${id}::uuid AND (owner_id IS NULL OR owner_id = ${userId}::uuid) FOR UPDATE`)
    : { rows: [] };
  return found(rows, 'View');
}

/**
 * Counts the views of a user and prevents others from being added until the transaction ends; null when the user was
 * deleted. Rows that refer to the user can be written meanwhile.
 */
export async function countViewsLocked(tx: Transaction, userId: string): Promise<number | null> {
  const { rows: users } = await tx.execute(
    sql`SELECT FROM users WHERE id = ${userId}::uuid FOR NO KEY UPDATE`,
  );
  if (users.length === 0) return null;
  const { rows } = await tx.execute<{ n: number }>(
    sql`SELECT count(*) AS n FROM saved_views WHERE created_by = ${userId}::uuid`,
  );
  return rows[0]?.n ?? 0;
}

/** @throws an error of SQLSTATE 23505 when the user has a view of this name for the page */
export async function insertView(
  tx: Transaction,
  userId: string,
  { page, name, search, shared }: CreateViewInput,
): Promise<ViewRow> {
  const { rows } = await tx.execute<ViewRecord>(sql`
    INSERT INTO saved_views (page, name, search, owner_id, created_by)
    VALUES (${page}, ${name}, ${search}, ${shared ? null : userId}::uuid, ${userId}::uuid) RETURNING ${COLUMNS}`);
  return found(rows, 'View');
}

/** @throws an error of SQLSTATE 23505 when its creator has another view of this name for the page */
export async function updateView(
  tx: Transaction,
  { id, name, search, shared }: UpdateViewInput,
): Promise<ViewRow> {
  const owner = shared === undefined ? sql`owner_id` : shared ? sql`NULL` : sql`created_by`;
  const { rows } = await tx.execute<ViewRecord>(sql`
    UPDATE saved_views SET name = coalesce(${name ?? null}, name), search = coalesce(${search ?? null}, search),
      owner_id = ${owner}, updated_at = now()
    WHERE id = ${id}::uuid RETURNING ${COLUMNS}`);
  return found(rows, 'View');
}

export async function deleteView(tx: Transaction, id: string): Promise<void> {
  await tx.execute(sql`DELETE FROM saved_views WHERE id = ${id}::uuid`);
}

/**
 * Makes a view the default of a page; with null, clears the default.
 * @throws an error of SQLSTATE 23505 when another transaction does so at the same time
 */
export async function setDefaultView(tx: Transaction, page: string, id: string | null): Promise<void> {
  await tx.execute(sql`UPDATE saved_views SET is_default = false WHERE page = ${page} AND is_default`);
  if (id !== null) await tx.execute(sql`UPDATE saved_views SET is_default = true WHERE id = ${id}::uuid`);
}

/** Converts views to the form that the API returns. */
export async function showViews(db: Executor, rows: readonly ViewRow[]): Promise<SavedView[]> {
  const nameOf = await findNames(
    db,
    rows.map(({ createdBy }) => createdBy),
  );
  return rows.map((row) => viewOf(row, nameOf));
}

function viewOf(
  { isDefault: _, createdBy, createdAt, updatedAt, ...view }: ViewRow,
  nameOf: NameOf,
): SavedView {
  return {
    ...view,
    createdBy: nameOf(createdBy) ?? { id: createdBy, name: '' },
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
  };
}
