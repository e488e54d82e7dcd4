import { type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';

export interface ClaimOptions {
  /** The condition for rows that are due: new ones, and those whose lease has expired by the clock of the database. */
  readonly due: SQL;
  /** The order in which they are claimed. */
  readonly order: SQL;
  readonly most: number;
}

/**
 * The ids of up to `most` due rows, as an array: `UPDATE … SET attempts = attempts + 1, <lease> WHERE id = ANY (…)`
 * claims them. Rows that another process is claiming are skipped. `attempts` identifies the claim: a result may be
 * recorded only if it is unchanged. Otherwise the lease has expired and another process has the row.
 */
export function claimableIds(table: PgTable, { due, order, most }: ClaimOptions): SQL {
  return sql`ARRAY(SELECT id FROM ${table} WHERE ${due} ORDER BY ${order} LIMIT ${most} FOR NO KEY UPDATE SKIP LOCKED)`;
}
