/** What stands in a cell: null is a gap, which is not the same as 0. */
export type Cell = Date | string | number | null;

/** One column of the table of a chart. The first column names the rows: it is the axis of the categories. */
export interface ChartColumn {
  readonly header: string;
  /** `share` is a number from 0 to 1, shown in percent; `moment` and `day` are times in the zone of the service. */
  readonly kind: 'text' | 'number' | 'share' | 'moment' | 'day';
  /** Most digits after the point; the file has all of them. */
  readonly digits?: number;
  /** In what the figures are, such as `km/h`. */
  readonly unit?: string;
}

/** All figures of a chart: what is drawn, shown as a table, and written to the file. */
export interface ChartTable {
  readonly columns: readonly ChartColumn[];
  readonly rows: readonly (readonly Cell[])[];
}
