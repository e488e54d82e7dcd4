import type { Logger } from 'pino';
import { createJobRunner, type JobRunner } from '../platform/database/jobs.ts';
import type { Database } from '../platform/database/pool.ts';
import { rollUpBacklog } from '../traffic/roll-up.ts';
import type { ReportFiles } from './files.ts';
import {
  claimReports,
  isTrafficQueued,
  noteProgress,
  type ReportRow,
  releaseReport,
  settleReport,
} from './store.ts';
import { type MakeReport, type Progress, ReportFailure } from './thread.ts';

export interface RunnerOptions {
  readonly db: Database;
  readonly files: ReportFiles;
  /** Must store its results in the same files. */
  readonly makeReport: MakeReport;
  readonly log: Logger;
}

/** Interval in milliseconds at which a process records its progress, and so learns that it should stop. */
const SIGN_OF_LIFE_MS = 1_000;

/** The report was cancelled, deleted, or taken over by another process. */
class NoLongerWanted extends Error {
  override readonly name = 'NoLongerWanted';
}

/** This process is about to end. */
class ProcessEnds extends Error {
  override readonly name = 'ProcessEnds';
}

/** Generates waiting reports, one at a time in each process, so that they do not disturb other work. */
export function createReportRunner({ db, files, makeReport, log }: RunnerOptions): JobRunner {
  const monitorReport = (report: ReportRow, progress: Progress, stop: AbortController): (() => void) => {
    let asking = false;
    const timer = setInterval(() => {
      if (asking) return;
      asking = true;
      noteProgress(db, report, progress)
        .then((goesOn) => {
          if (!goesOn) stop.abort(new NoLongerWanted());
        })
        // A process that cannot reach the database cannot continue the report either.
        .catch((err: unknown) =>
          log.debug({ err, reportId: report.id }, 'the progress could not be recorded'),
        )
        .finally(() => {
          asking = false;
        });
    }, SIGN_OF_LIFE_MS);
    return () => clearInterval(timer);
  };

  /** If the database is unavailable, nothing is recorded: without liveness signals the report is started again. */
  const settleFailure = async (report: ReportRow, error: unknown): Promise<void> => {
    if (error instanceof NoLongerWanted) return;
    if (error instanceof ProcessEnds) return releaseReport(db, report);
    const isPassing = error instanceof ReportFailure && error.failure === 'passing';
    log.warn({ err: error, reportId: report.id }, 'a report could not be generated');
    if (!isPassing) await settleReport(db, report, { status: 'FAILED', error: sentenceFor(error) });
  };

  const make = async (report: ReportRow, ending: AbortSignal): Promise<void> => {
    const stop = new AbortController();
    const end = () => stop.abort(new ProcessEnds());
    ending.addEventListener('abort', end);
    if (ending.aborted) end();
    const progress: Progress = { progress: 0, rowCount: 0 };
    const fileKey = `${report.id}-${report.attempts}.${report.format.toLowerCase()}`;
    const leave = monitorReport(report, progress, stop);
    try {
      const made = await makeReport(report, fileKey, (now) => Object.assign(progress, now), stop.signal);
      const counts = await settleReport(db, report, { status: 'DONE', fileKey, ...made });
      if (!counts) await files.remove(fileKey);
    } catch (error) {
      await files.remove(fileKey);
      await settleFailure(report, stop.signal.aborted ? stop.signal.reason : error);
    } finally {
      leave();
      ending.removeEventListener('abort', end);
    }
  };

  return createJobRunner<ReportRow>({
    concurrency: 1,
    log,
    failure: 'reports cannot be generated now; the next sweep will try again',
    claim: async (_, most) =>
      claimReports(db, most, !(await isTrafficQueued(db)) || (await rollUpBacklog(db)) === null),
    perform: make,
  });
}

function sentenceFor(error: unknown): string {
  return error instanceof ReportFailure && error.failure === 'refused'
    ? error.message
    : 'The report could not be made; the log of the service has the cause';
}
