/** The value of a cell. null is a gap, which is not the same as 0. */
export type Cell = Date | string | number | null;

/** A column of the table of a chart. The first column labels the rows: it holds the categories of the axis. */
export interface ChartColumn {
  readonly header: string;
  /** `share` is a number from 0 to 1, shown in percent; `moment` and `day` are times in the zone of the service. */
  readonly kind: 'text' | 'number' | 'share' | 'moment' | 'day';
  /** Maximum number of decimal places shown; the file has all of them. */
  readonly digits?: number;
  /** Unit of the figures, such as `km/h`. */
  readonly unit?: string;
}

/** All figures of a chart, for the table view and the CSV file. */
export interface ChartTable {
  readonly columns: readonly ChartColumn[];
  readonly rows: readonly (readonly Cell[])[];
}
