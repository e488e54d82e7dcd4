import { type ImportCountsInput, MAX_FILE_PERIODS } from '@gantry/contract/count-files';
import { invalidInput } from '../../platform/error.ts';
import type { LineError } from '../../platform/sheet.ts';
import type { Column, Part } from './columns.ts';

/** A period of a file, as `counts.ingest` would take it. */
export interface FilePeriod {
  readonly line: number;
  /** Unix milliseconds. */
  readonly start: number;
  readonly part: Omit<Part, 'class'>;
  readonly content: Readonly<Record<string, unknown>>;
}

/** What a file contains. */
export interface FileOfCounts {
  readonly periods: readonly FilePeriod[];
  readonly errors: readonly LineError[];
  readonly rowCount: number;
  readonly columns: readonly Column[];
  readonly binLabel: 'START' | 'END';
  /** The length of the periods; null if there are none. */
  readonly seconds: number | null;
}

/** How a file is to be read. `zone` is that of times without an offset. */
export type FileOptions = Omit<ImportCountsInput, 'sensorId' | 'text' | 'base64' | 'timeZone' | 'dryRun'> & {
  readonly zone: string;
};

/** The error for a file with too many rows or counts. */
export function tooLong() {
  return invalidInput(
    'text',
    `A file may contain ${MAX_FILE_PERIODS} rows and counts of intervals: divide it`,
  );
}
