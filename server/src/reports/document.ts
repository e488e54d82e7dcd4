import type { Writable } from 'node:stream';
import type { CsvChoice, ReportFilters } from '@gantry/contract/reports';
import type { TimezoneSettings } from '@gantry/contract/system';
import type { Database } from '../platform/database/pool.ts';
import type { Interval } from '../platform/time.ts';

/** The contents of a cell: `integer`, `decimal` and `degrees` are numbers, `seconds` a duration, `share` a number from 0 to 1. */
export type ColumnType = 'text' | 'integer' | 'decimal' | 'degrees' | 'seconds' | 'share' | 'time' | 'date';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** Its part of the width of a page, relative to the other columns; 0 omits it where space is limited. */
  readonly width: number;
}

/** A `date` is text such as 2026-01-31, a `time` a point in time. */
export type Cell = string | number | boolean | Date | null;
export type Row = readonly Cell[];

/** Some rows, and the progress of reading after them, from 0 to 1. */
export interface Batch {
  readonly rows: readonly Row[];
  readonly progress: number;
}

export interface Figure {
  readonly name: string;
  readonly value: string | number;
}

/** Compares items, largest first. */
export interface Bars {
  readonly title: string;
  readonly shape: 'bars';
  readonly points: readonly { readonly label: string; readonly value: number }[];
}

/** A time series, or means by hour or day. A value of null is a gap, for which nothing is known. */
export interface Course {
  readonly title: string;
  readonly shape: 'columns';
  /** Whether it takes only half of the width. */
  readonly isHalf?: boolean;
  readonly points: readonly { readonly label: string; readonly value: number | null }[];
}

export type Chart = Bars | Course;

export interface Summary {
  readonly figures: readonly Figure[];
  readonly charts: readonly Chart[];
}

/** A summary of one of the items of a report, such as one location, before its rows. */
export interface Section extends Summary {
  readonly id: string;
  readonly title: string;
  readonly subtitle: string;
  /** If there are many sections, those with the largest weight get a page of their own. */
  readonly weight: number;
  /** Its row in the list of all sections. */
  readonly row: Row;
  /** The number of rows of the table that belong to it. */
  readonly rowCount: number;
}

/** The items of a report, for formats that are read page by page. */
export interface Sections {
  /** The plural noun for the items, such as `places`. */
  readonly name: string;
  /** The columns of the list of all sections. */
  readonly columns: readonly Column[];
  /** In the order in which they are shown. */
  readonly list: (db: Database, scope: ReportScope) => AsyncIterable<Section>;
  /** The id of the section of a row of the table. */
  readonly idOf: (row: Row) => string;
  /** The columns of the table that only name the section. */
  readonly naming: readonly string[];
}

/** The contents of a report. */
export interface ReportScope {
  readonly interval: Interval;
  readonly filters: ReportFilters;
  readonly settings: TimezoneSettings;
  /** When it is generated, in Unix milliseconds: there is no data after that. */
  readonly now: number;
}

/** The definition of a kind of report. */
export interface KindOfReport {
  readonly title: string;
  /** What it is about, instead of the range and the filters. */
  readonly facts?: readonly Figure[];
  readonly columns: readonly Column[];
  /** The rows, read in parts as they are needed. */
  readonly rows: (db: Database, scope: ReportScope) => AsyncIterable<Batch>;
  /** The number of rows, if it can be told without reading them; otherwise null. */
  readonly count?: (db: Database, scope: ReportScope) => Promise<number | null>;
  readonly summary: (db: Database, scope: ReportScope) => Promise<Summary>;
  readonly sections?: Sections;
}

/** The contents of a file, whatever its format. */
export interface ReportDocument {
  readonly title: string;
  /** Range, time zone, filters and so on, as text. */
  readonly facts: readonly Figure[];
  readonly columns: readonly Column[];
  readonly rows: AsyncIterable<readonly Row[]>;
  readonly count?: () => Promise<number | null>;
  readonly settings: TimezoneSettings;
  /** How a CSV file is written; as usual by default. */
  readonly csv?: CsvChoice;
  readonly summary: () => Promise<Summary>;
  readonly sections?: Omit<Sections, 'list'> & { readonly list: () => AsyncIterable<Section> };
}

/** Converts a document to a file. */
export interface FileFormat {
  /**
   * Writes the document and ends the stream.
   * @returns the number of rows of the table in the file
   * @throws AppError `badRequest` when the format cannot hold the document
   */
  readonly write: (document: ReportDocument, to: Writable) => Promise<number>;
}
