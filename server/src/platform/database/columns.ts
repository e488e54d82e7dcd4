import { doubleArray, smallintArray, textArray, uuidArray } from './arrays.ts';

// Sends many rows in one statement: each column as one array, which `unnest` turns into rows again.

/** A column of such rows: its name, its type, and the source of its values. */
export interface Column<Row> {
  readonly name: string;
  /** The type with which it is sent. */
  readonly type: 'uuid' | 'text' | 'smallint' | 'double precision';
  /** The expression to use in the statement, if not the column itself. */
  readonly as?: string;
  readonly encode: (rows: readonly Row[]) => Buffer;
}

export function uuid<Row>(name: string, pick: (row: Row) => string | null): Column<Row> {
  return {
    name,
    type: 'uuid',
    encode: (rows) => uuidArray(rows, pick),
  };
}

export function text<Row>(name: string, pick: (row: Row) => string | null): Column<Row> {
  return {
    name,
    type: 'text',
    encode: (rows) => textArray(rows, pick),
  };
}

export function json<Row>(name: string, pick: (row: Row) => string | null): Column<Row> {
  return {
    ...text(name, pick),
    as: `${name}::jsonb`,
  };
}

export function smallint<Row>(name: string, pick: (row: Row) => number | null): Column<Row> {
  return {
    name,
    type: 'smallint',
    encode: (rows) => smallintArray(rows, pick),
  };
}

export function double<Row>(name: string, pick: (row: Row) => number | null, as = name): Column<Row> {
  return {
    name,
    type: 'double precision',
    as,
    encode: (rows) => doubleArray(rows, pick),
  };
}

/** The names of the columns as an SQL list. */
export function namesOf<Row>(columns: readonly Column<Row>[]): string {
  return columns.map(({ name }) => name).join(', ');
}

/**
 * A query that returns the rows.
 * @param parameters the parameters of the statement for the arrays of the columns
 */
export function rowsOf<Row>(columns: readonly Column<Row>[], parameters: readonly string[]): string {
  const arrays = columns.map(({ type }, index) => `${parameters[index]}::${type}[]`).join(', ');
  const values = columns.map(({ name, as = name }) => as).join(', ');
  return `SELECT ${values} FROM unnest(${arrays}) AS incoming (${namesOf(columns)})`;
}
