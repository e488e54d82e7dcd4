import type { DescribedError } from '../platform/describe-error.ts';
import type { ReportRow } from './store.ts';

/** Connections of a thread, of which a process has one at a time: a report is read one statement after the other. */
export const REPORT_CONNECTIONS = 1;

/** What a thread is given to make a report. */
export interface ThreadJob {
  readonly connectionString: string;
  /** Where the files of reports are kept, and the name that this one gets. */
  readonly folder: string;
  readonly fileKey: string;
  readonly report: ReportRow;
  /** The time in Unix milliseconds when it was ordered. */
  readonly now: number;
}

/** The one thing that a thread is told: to end soon. */
export const STOP = 'stop';

/** How far a report has come. */
export interface Progress {
  progress: number;
  rowCount: number;
}

/** A report whose file is kept. */
export interface MadeFile {
  /** In bytes. */
  readonly size: number;
  readonly rowCount: number;
}

/** `refused`: whoever asked is told the sentence; `passing`: it may succeed another time; `broken`: nobody knows why. */
export type Failure = 'refused' | 'passing' | 'broken';

/** What a thread says: how it goes several times, then one of the others. */
export type ThreadMessage =
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'made'; readonly file: MadeFile }
  | {
      readonly type: 'failed';
      readonly failure: Failure;
      readonly message: string;
      /** For the log. */
      readonly detail: DescribedError;
    };
