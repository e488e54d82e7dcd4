import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { QueryResult, QueryResultRow } from 'pg';
import type { Executor } from './transaction.ts';

/** A prepared statement; `values` are those of its placeholders, by name. */
export type Prepared<Row> = (db: Executor, values: Readonly<Record<string, unknown>>) => Promise<Row[]>;

const dialect = new PgDialect();

/**
 * Prepares a statement that runs many times a second: its text is built once, here, and each connection parses and
 * plans it on first use. As elsewhere in drizzle, times are returned as text.
 * @param name must be unique among all statements
 */
export function prepare<Row extends QueryResultRow>(name: string, statement: SQL): Prepared<Row> {
  const query = dialect.sqlToQuery(statement);
  return async (db, values) => {
    const ready = db._.session.prepareQuery<{ execute: QueryResult<Row>; all: unknown; values: unknown }>(
      query,
      undefined,
      name,
      false,
    );
    try {
      const { rows } = await ready.execute({ ...values });
      return rows;
    } catch (error) {
      // The log identifies the statement by name, because it may not contain its text and values.
      throw error instanceof Error ? Object.assign(error, { statement: name }) : error;
    }
  };
}
