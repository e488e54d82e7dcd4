import type { ReportFiles } from './files.ts';
import type { ReportRunner } from './runner.ts';

/** What this room adds to the service. */
export interface ReportServices {
  readonly reportFiles: ReportFiles;
}

/**
 * The job that a report waits. It is done as soon as somebody knows, so that a long report does not hold up the queue;
 * one that is not made in the end is begun anew when its process gives no more signs of life.
 */
export const generateReports = (runner: Pick<ReportRunner, 'wake'>) => async (): Promise<void> =>
  runner.wake();
