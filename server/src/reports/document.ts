import type { Writable } from 'node:stream';
import type { CsvChoice, ReportFilters } from '@gantry/contract/reports';
import type { TimezoneSettings } from '@gantry/contract/system';
import type { SpeedUnits } from '@gantry/contract/values';
import type { Database } from '../platform/database/pool.ts';
import type { Interval } from '../platform/time.ts';

/** The units of speeds, as files name them. */
export const UNIT_NAMES = { KMH: 'km/h', MPH: 'mph' } as const satisfies Record<SpeedUnits, string>;

/** The contents of a cell: `integer`, `decimal` and `degrees` are numbers, `seconds` a duration, `share` a number from 0 to 1. */
export type ColumnType = 'text' | 'integer' | 'decimal' | 'degrees' | 'seconds' | 'share' | 'time' | 'date';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** Its part of the width of a page, relative to the other columns; 0 omits it where space is limited. */
  readonly width: number;
  /** Decimals of its numbers, always that many; by default as many as they have, up to those of the type. */
  readonly digits?: number;
  /** The head above it, common with the columns next to it. */
  readonly group?: string;
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

/** How a row or a cell stands out by its shade, besides what it says. */
export type Tone = 'total' | 'peak' | 'partial' | 'provisional' | 'gap' | 'excluded';

/** A row of a table of figures. A text in a column of numbers is set like a number. */
export interface FigureRow {
  readonly cells: Row;
  readonly tone?: Tone | undefined;
  /** Of single cells, by their place in the row. */
  readonly tones?: ReadonlyMap<number, Tone>;
  /** The title above it and the rows of the same group around it. */
  readonly group?: string;
  /** How many rows, from it on, stay on one page; 1 by default. */
  readonly together?: number;
}

export interface FigureTable {
  readonly columns: readonly Column[];
  readonly rows: readonly FigureRow[];
}

/** The distribution of speeds with its cumulative curve. */
export interface Histogram {
  readonly shape: 'histogram';
  readonly title: string;
  /** Of the speeds, such as km/h. */
  readonly unit: string;
  /** The first and the last speed of the axis, in whole units. */
  readonly from: number;
  readonly until: number;
  /** Vehicles by whole units, both bounds included. */
  readonly bins: readonly { readonly from: number; readonly to: number; readonly count: number }[];
  /** Speeds with a line and a label each, such as V85. */
  readonly marks: readonly { readonly label: string; readonly speed: number; readonly isLimit?: boolean }[];
  /** A range of speeds that is shaded. */
  readonly band: { readonly label: string; readonly from: number; readonly to: number } | null;
  /** What it shows, in words. */
  readonly alt: string;
}

/** The legs of an intersection with the vehicles of each movement, seen from above, north at the top. */
export interface Crossing {
  readonly shape: 'crossing';
  readonly title: string;
  readonly legs: readonly {
    /** Clockwise from the north, in eighths of a circle. */
    readonly eighth: number;
    readonly name: string;
    /** Lines below the name. */
    readonly lines: readonly string[];
    readonly out: number;
  }[];
  readonly movements: readonly {
    /** Of the leg that vehicles come from. */
    readonly eighth: number;
    readonly turn: 'L' | 'T' | 'R' | 'U';
    readonly volume: number;
  }[];
  readonly alt: string;
}

/** An image, as large as there is room. */
export interface PlacedImage {
  readonly shape: 'image';
  readonly title: string;
  /** JPEG or PNG. */
  readonly content: Uint8Array;
  readonly alt: string;
}

/** A part of a study, or of a case, on its pages. */
export interface Chapter {
  readonly title: string;
  readonly words?: readonly string[];
  readonly drawings?: readonly (Histogram | Crossing | PlacedImage)[];
  readonly table?: FigureTable;
}

/** Who did something, and when; null while nobody has. */
export interface Signature {
  readonly act: string;
  readonly by: string | null;
  readonly at: string | null;
}

/** What a study has in formats with pages or sheets, besides the table of its data; the pages of a case are of the same kind. */
export interface StudyContents {
  /** DRAFT, FROZEN, SIGNED or REJECTED. */
  readonly status: string;
  /** What the status means for the reader. */
  readonly statement: string;
  /** What each page repeats. */
  readonly header: string;
  /** What the figures lack, which nobody may overlook. */
  readonly limits: readonly string[];
  /** What else limits the figures, and what the author says. */
  readonly notes: readonly string[];
  readonly signatures: readonly Signature[];
  readonly chapters: readonly Chapter[];
  /** Tables with a sheet of their own. Times are text, as local time. */
  readonly sheets: readonly {
    readonly name: string;
    readonly columns: readonly Column[];
    readonly rows: readonly Row[];
  }[];
  /** Definitions, formulas and sources by name. */
  readonly methods: readonly Figure[];
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
  /** The units of the service, for places without units of their own. */
  readonly speedUnits: SpeedUnits;
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
  readonly study?: StudyContents;
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
  readonly study?: StudyContents;
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
