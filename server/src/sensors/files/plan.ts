import { hash } from 'node:crypto';
import { caseFold } from '@gantry/contract/case-fold';
import {
  type FleetFileInput,
  type ImportedFleet,
  MAX_FLEET_ROWS,
  MAX_LISTED_ROWS,
} from '@gantry/contract/fleet';
import type { z } from 'zod';
import { AppError, invalidInput } from '../../platform/error.ts';
import { readSheet } from '../../platform/sheet.ts';
import { type CellValue, type Field, type Given, readHeader, readRow, textOf } from './fields.ts';

/** What is wrong with a row, and in which column. */
export interface Flaw {
  readonly column: string | null;
  readonly message: string;
}

/** How the rows of a file become sensors or locations. */
export interface FleetKind<Item extends { readonly id: string; readonly name: string }, New, Changes> {
  /** The column by which rows are recognised. */
  readonly key: string;
  readonly create: z.ZodType<New>;
  readonly update: z.ZodType<Changes>;
  /** The present item of a row, null if the row is new, or what is wrong with its key. */
  readonly find: (row: Given) => { readonly item: Item | null } | Flaw;
  /** The input of `create` or `update` that the row means. */
  readonly inputOf: (
    row: Given,
    item: Item | null,
  ) => { readonly input: Readonly<Record<string, unknown>> } | Flaw;
  /** The item as it is with the input. */
  readonly applied: (row: Given, item: Item | null, input: New | Changes) => Item;
}

/** A row that creates or changes something, or nothing. */
export type PlannedRow<Item, New, Changes> = {
  readonly line: number;
  readonly key: string;
  readonly name: string;
  readonly changes: ImportedFleet['rows'][number]['changes'];
} & (
  | { readonly result: 'NEW'; readonly input: New }
  | { readonly result: 'CHANGED' | 'SAME'; readonly item: Item; readonly input: Changes }
);

/** What the rows of a file say. */
export interface FleetFile<Item> {
  readonly encoding: ImportedFleet['encoding'];
  readonly columns: readonly Field<Item>[];
  readonly rows: readonly { readonly line: number; readonly given: Given }[];
  /** Of rows that cannot be read as a whole. */
  readonly errors: ImportedFleet['errors'];
}

/** What a file changes. */
export interface Plan<Item, New, Changes> {
  readonly rows: readonly PlannedRow<Item, New, Changes>[];
  readonly errors: ImportedFleet['errors'];
  readonly fingerprint: string;
}

/** Reads a file. @throws AppError `badRequest` if nothing of it can be understood */
export async function readFleetFile<Item>(
  { text, base64 }: Pick<FleetFileInput, 'text' | 'base64'>,
  fields: readonly Field<Item>[],
  required: string,
): Promise<FleetFile<Item>> {
  const { rows, encoding } = await readSheet({ text, base64 }, MAX_FLEET_ROWS);
  const columns = readHeader(rows[0], fields, [required]);
  const read = rows.slice(1).map((row) => ({ line: row.line, given: readRow(row, columns) }));
  return {
    encoding,
    columns,
    rows: read.flatMap(({ line, given }) => (typeof given === 'string' ? [] : [{ line, given }])),
    errors: read.flatMap(({ line, given }) =>
      typeof given === 'string' ? [{ line, column: null, message: given }] : [],
    ),
  };
}

/** Finds what a file changes. */
export function planFleet<Item extends { readonly id: string; readonly name: string }, New, Changes>(
  kind: FleetKind<Item, New, Changes>,
  file: FleetFile<Item>,
): Plan<Item, New, Changes> {
  const errors = [...file.errors];
  const lines = new Map<string, number>();
  const rows: PlannedRow<Item, New, Changes>[] = [];
  for (const { line, given } of file.rows) {
    const planned = planRow(kind, file.columns, given);
    if ('message' in planned) {
      errors.push({ line, ...planned });
      continue;
    }
    const identity = 'item' in planned ? planned.item.id : `new ${caseFold(planned.key)}`;
    const before = lines.get(identity);
    if (before === undefined) rows.push({ ...planned, line });
    else {
      const message = `${JSON.stringify(planned.key)} is in line ${before}, too: leave one out`;
      errors.push({ line, column: kind.key, message });
    }
    lines.set(identity, before ?? line);
  }
  const changing = rows.filter(({ result }) => result !== 'SAME');
  const said = JSON.stringify(changing.map(({ key, result, changes }) => [key, result, changes]));
  return {
    rows,
    errors: errors.toSorted((a, b) => a.line - b.line),
    fingerprint: hash('sha256', said).slice(0, 32),
  };
}

function planRow<Item extends { readonly id: string; readonly name: string }, New, Changes>(
  kind: FleetKind<Item, New, Changes>,
  columns: readonly Field<Item>[],
  given: Given,
): Flaw | PlannedRow<Item, New, Changes> {
  const found = kind.find(given);
  if ('message' in found) return found;
  const { item } = found;
  const meant = kind.inputOf(given, item);
  if ('message' in meant) return meant;
  const key = String(given.get(kind.key) ?? '');
  const planned = (input: New | Changes) => {
    const after = kind.applied(given, item, input);
    const changes = columns.flatMap(({ name, of }) => {
      // A new item has no id yet.
      const [from, to] = [item ? of(item) : null, of(after) ?? null];
      return isEqual(from, to) ? [] : [{ field: name, from: textOf(from), to: textOf(to) }];
    });
    return { line: 0, key: key || after.name, name: after.name, changes };
  };
  if (!item) {
    const { data, error } = kind.create.safeParse(meant.input);
    return error ? flawOf(error) : { ...planned(data), result: 'NEW', input: data };
  }
  const { data, error } = kind.update.safeParse({ ...meant.input, id: item.id });
  if (error) return flawOf(error);
  const row = planned(data);
  return { ...row, result: row.changes.length > 0 ? 'CHANGED' : 'SAME', item, input: data };
}

function flawOf({ issues: [issue] }: z.ZodError): Flaw {
  return { column: columnOf(issue?.path ?? []), message: issue?.message ?? 'The row cannot be read' };
}

/** The column to which a part of the input belongs. */
function columnOf(path: readonly PropertyKey[]): string | null {
  const [first, second] = path.map(String);
  if (first === 'coordinates') return second ?? 'latitude';
  return first === 'locationId' ? 'location' : (first ?? null);
}

function isEqual(one: CellValue, other: CellValue): boolean {
  const plain = (value: CellValue): CellValue => (Array.isArray(value) && value.length === 0 ? null : value);
  return JSON.stringify(plain(one)) === JSON.stringify(plain(other));
}

/** What an answer says of a plan. */
export function describePlan<Item, New, Changes>(
  { encoding, columns, rows: read, errors: unread }: FleetFile<Item>,
  { rows, errors, fingerprint }: Plan<Item, New, Changes>,
  dryRun: boolean,
): ImportedFleet {
  const countOf = (wanted: string): number => rows.filter(({ result }) => result === wanted).length;
  return {
    dryRun,
    encoding,
    columns: columns.map(({ name }) => name),
    rowCount: read.length + unread.length,
    created: countOf('NEW'),
    changed: countOf('CHANGED'),
    same: countOf('SAME'),
    errorCount: errors.length,
    errors: errors.slice(0, MAX_LISTED_ROWS),
    rows: rows
      .flatMap(({ line, key, name, result, changes }) =>
        result === 'SAME' ? [] : [{ line, key, name, result, changes }],
      )
      .slice(0, MAX_LISTED_ROWS),
    fingerprint,
  };
}

/**
 * Refuses a plan that is not to be applied.
 * @throws AppError `badRequest` if rows have errors; `conflict` if it is not what was expected
 */
export function requireApplicable(
  { errors, fingerprint }: Pick<Plan<unknown, unknown, unknown>, 'errors' | 'fingerprint'>,
  expected: string | undefined,
): void {
  const [first] = errors;
  if (first) {
    const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
    const column = first.column === null ? '' : `${first.column}: `;
    throw invalidInput('text', `Nothing was changed. Line ${first.line}: ${column}${first.message}${more}`);
  }
  if (expected !== undefined && expected !== fingerprint)
    throw new AppError(
      'conflict',
      'Nothing was changed: something else changed since the file was compared, so compare it again',
    );
}
