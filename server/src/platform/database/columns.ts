import { doubleArray, smallintArray, textArray, uuidArray } from './arrays.ts';

// Many rows in one statement: each column is sent as one array, and `unnest` makes rows of them again.

/** A column of such rows: what it is called, how it is sent, and where its values come from. */
export interface Column<Row> {
  readonly name: string;
  /** The type as which it is sent. */
  readonly type: 'uuid' | 'text' | 'smallint' | 'double precision';
  /** What becomes of it in the statement, when it is not taken as it comes. */
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

/** The names of the columns, as a list in SQL. */
export function namesOf<Row>(columns: readonly Column<Row>[]): string {
  return columns.map(({ name }) => name).join(', ');
}

/**
 * A query that answers the rows.
 * @param parameters those of the statement that are the arrays of the columns
 */
export function rowsOf<Row>(columns: readonly Column<Row>[], parameters: readonly string[]): string {
  const arrays = columns.map(({ type }, index) => `${parameters[index]}::${type}[]`).join(', ');
  const values = columns.map(({ name, as = name }) => as).join(', ');
  return `SELECT ${values} FROM unnest(${arrays}) AS incoming (${namesOf(columns)})`;
}
