import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { QueryResult, QueryResultRow } from 'pg';
import type { Executor } from './transaction.ts';

/** A statement made ready: `values` are those of its placeholders, by name. */
export type Prepared<Row> = (db: Executor, values: Readonly<Record<string, unknown>>) => Promise<Row[]>;

const dialect = new PgDialect();

/**
 * Makes a statement ready that runs many times a second: its text is put together here, once, and a connection reads and
 * plans it when it first runs it. As elsewhere in drizzle, moments are answered as text.
 * @param name tells the statement from all others
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
      // The log names the statement, because it may not show its text and values.
      throw error instanceof Error ? Object.assign(error, { statement: name }) : error;
    }
  };
}
