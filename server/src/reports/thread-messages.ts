import type { DescribedError } from '../platform/describe-error.ts';
import type { ReportRow } from './store.ts';

/** The input of a thread that writes a report. */
export interface ThreadJob {
  readonly connectionString: string;
  /** The folder for the files of reports, and the name of this one. */
  readonly folder: string;
  readonly fileKey: string;
  readonly report: ReportRow;
  /** The time in Unix milliseconds when it was ordered. */
  readonly now: number;
  /** Maximum duration of each statement, in milliseconds. */
  readonly statementTimeoutMs: number;
}

/** The only message to a thread: it should end soon. */
export const STOP = 'stop';

/** The progress of a report. */
export interface Progress {
  progress: number;
  rowCount: number;
}

/** A report whose file is stored. */
export interface MadeFile {
  /** In bytes. */
  readonly size: number;
  readonly rowCount: number;
}

/** `refused`: the message is for the user; `passing`: another attempt may succeed; `broken`: the cause is unknown. */
export type Failure = 'refused' | 'passing' | 'broken';

/** The messages of a thread: progress several times, then one of the others. */
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
