import type { CsvChoice } from '@gantry/contract/reports';
import { type Cell, csvOf } from '../csv/csv.ts';
import type { Filter, FilterValues } from '../filters/filter.ts';
import { FIRST_PAGE, type Pages, readPage } from './pages.ts';

/** A column of the file: its header, and its value for a row. */
export interface ExportColumn<Row> {
  readonly header: string;
  /** The header in the file, if it differs. */
  readonly csvHeader?: string;
  /** Absent: the column is not in the file. */
  readonly csv?: (row: Row) => Cell;
}

/** Maximum number of rows in a file. The file states how many rows there are if it was cut off. */
export const MAX_ROWS = 50_000;

interface AllRows<Row> {
  readonly rows: readonly Row[];
  /** Number of rows in the list, which may be more than `rows` has. */
  readonly total: number;
}

/**
 * Reads all pages of a list in sequence, up to `MAX_ROWS` rows.
 * @param onProgress receives the share of rows that is loaded, from 0 to 1
 * @throws what `load` throws
 */
export async function loadAllRows<Row>(
  { load, keyOf }: Pick<Pages<Row>, 'load' | 'keyOf'>,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<AllRows<Row>> {
  // Rows that are added meanwhile shift the pages: a row that is returned twice is written once.
  const found = new Map<string, Row>();
  for (let start = FIRST_PAGE; ; ) {
    const { rows, total, end } = await readPage(load, start, signal);
    for (const row of rows) found.set(keyOf(row), row);
    const most = Math.min(total, MAX_ROWS);
    if (rows.length === 0 || end >= most) return { rows: [...found.values()].slice(0, MAX_ROWS), total };
    onProgress(end / most);
    start = { skip: end, total };
  }
}

/**
 * The rows as CSV, in the same format as the data of a chart.
 * @param zone IANA name of the time zone in which times are written
 * @param facts lines that describe the file, written at its end as comments
 */
export function csvOfRows<Row>(
  columns: readonly ExportColumn<Row>[],
  rows: readonly Row[],
  zone: string,
  facts: readonly string[],
  choice?: CsvChoice,
): string {
  const written = columns.flatMap(({ header, csvHeader = header, csv }) =>
    csv ? [{ header: csvHeader, csv }] : [],
  );
  return csvOf(
    {
      columns: written.map(({ header }) => ({ header, kind: 'text' })),
      rows: rows.map((row) => written.map(({ csv }) => csv(row))),
    },
    zone,
    facts,
    choice,
  );
}

/** The filters that are set, as text. An item whose name cannot be read is written as its id. */
export async function filterFacts(filters: readonly Filter[], values: FilterValues): Promise<string[]> {
  const set = filters.filter(({ name }) => values[name] !== undefined);
  return Promise.all(
    set.map(async (filter) => `${filter.label}: ${await valueText(filter, values[filter.name])}`),
  );
}

async function valueText(filter: Filter, value: unknown): Promise<string> {
  const all = Array.isArray(value) ? value : [value];
  if (filter.kind === 'yesNo') return value === true ? filter.yes : filter.no;
  if (filter.kind === 'lookUp') return filter.nameOf(String(value)).catch(() => String(value));
  const options = 'options' in filter ? filter.options : [];
  return all.map((each) => options.find((option) => option.value === each)?.label ?? String(each)).join(', ');
}
