import type { ReportFilters } from '@gantry/contract/reports';
import type { TimezoneSettings } from '@gantry/contract/system';
import type { Database } from '../platform/database/pool.ts';
import type { Interval } from '../platform/time.ts';

/** What a cell holds: `integer`, `decimal` and `degrees` are numbers, `seconds` a length of time, `share` a number from 0 to 1. */
export type ColumnType = 'text' | 'integer' | 'decimal' | 'degrees' | 'seconds' | 'share' | 'time' | 'date';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** Its share of the width of a page, relative to the others; 0 leaves it out where there is little room. */
  readonly width: number;
}

/** A `date` is a text such as 2026-01-31, a `time` a moment. */
export type Cell = string | number | boolean | Date | null;
export type Row = readonly Cell[];

/** Some rows, and how far the reading has come with them, from 0 to 1. */
export interface Batch {
  readonly rows: readonly Row[];
  readonly progress: number;
}

export interface Figure {
  readonly name: string;
  readonly value: string | number;
}

/** `bars` compares things, largest first; `columns` is a course over time. */
export interface Chart {
  readonly title: string;
  readonly shape: 'bars' | 'columns';
  /** Whether a course leaves room for another one beside it. */
  readonly isHalf?: boolean;
  readonly points: readonly { readonly label: string; readonly value: number }[];
}

export interface Summary {
  readonly figures: readonly Figure[];
  readonly charts: readonly Chart[];
}

/** What a report says of one of the things that it is about, as of one place, before their rows. */
export interface Section extends Summary {
  readonly id: string;
  readonly title: string;
  readonly subtitle: string;
  /** The heaviest ones have a page of their own where there are many. */
  readonly weight: number;
  /** Its row in the list of all sections. */
  readonly row: Row;
  /** How many rows of the table are about it. */
  readonly rowCount: number;
}

/** The things that a report is about, for formats that are read page by page. */
export interface Sections {
  /** What they are called, as `places`. */
  readonly name: string;
  /** Those of the list of all sections. */
  readonly columns: readonly Column[];
  /** In the order in which they are to be shown. */
  readonly list: (db: Database, scope: ReportScope) => AsyncIterable<Section>;
  /** The id of the section that a row of the table is about. */
  readonly idOf: (row: Row) => string;
  /** The columns of the table that say nothing but which section it is. */
  readonly naming: readonly string[];
}

/** What a report is about. */
export interface ReportScope {
  readonly interval: Interval;
  readonly filters: ReportFilters;
  readonly settings: TimezoneSettings;
  /** The moment at which it is made, in Unix milliseconds: nothing is known of what comes after. */
  readonly now: number;
}

/** What a kind of report is made of. */
export interface KindOfReport {
  readonly title: string;
  readonly columns: readonly Column[];
  /** The rows, read a part at a time as they are asked for. */
  readonly rows: (db: Database, scope: ReportScope) => AsyncIterable<Batch>;
  readonly summary: (db: Database, scope: ReportScope) => Promise<Summary>;
  readonly sections?: Sections;
}

/** What is written into a file, whatever its format. */
export interface ReportDocument {
  readonly title: string;
  /** Range, time zone, filters and the like, as they are to be read. */
  readonly facts: readonly Figure[];
  readonly columns: readonly Column[];
  readonly rows: AsyncIterable<readonly Row[]>;
  readonly settings: TimezoneSettings;
  readonly summary: () => Promise<Summary>;
  readonly sections?: Omit<Sections, 'list'> & { readonly list: () => AsyncIterable<Section> };
}
