import { type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';

export interface ClaimOptions {
  /** Which rows are due: new ones, and those whose lease has expired, by the clock of the database. */
  readonly due: SQL;
  /** Which of them come first. */
  readonly order: SQL;
  readonly most: number;
}

/**
 * The ids of up to `most` due rows, as an array: `UPDATE … SET attempts = attempts + 1, <lease> WHERE id = ANY (…)` claims
 * them. Rows that another process claims at this moment are skipped. `attempts` names the claim: who records a result
 * must find it unchanged, or else the lease has expired and another process has the row.
 */
export function claimableIds(table: PgTable, { due, order, most }: ClaimOptions): SQL {
  return sql`ARRAY(SELECT id FROM ${table} WHERE ${due} ORDER BY ${order} LIMIT ${most} FOR NO KEY UPDATE SKIP LOCKED)`;
}
