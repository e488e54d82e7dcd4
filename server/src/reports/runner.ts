import type { Logger } from 'pino';
import {
  createJobRunner,
  type JobRunner,
  NoLongerWanted,
  ProcessEnds,
  whileAlive,
} from '../platform/database/jobs.ts';
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

/** Generates waiting reports, one at a time in each process, so that they do not disturb other work. */
export function createReportRunner({ db, files, makeReport, log }: RunnerOptions): JobRunner {
  /** If the database is unavailable, nothing is recorded: without liveness signals the report is started again. */
  const settleFailure = async (report: ReportRow, error: unknown): Promise<void> => {
    if (error instanceof NoLongerWanted) return;
    if (error instanceof ProcessEnds) return releaseReport(db, report);
    const isPassing = error instanceof ReportFailure && error.failure === 'passing';
    log.warn({ err: error, reportId: report.id }, 'a report could not be generated');
    if (!isPassing) await settleReport(db, report, { status: 'FAILED', error: sentenceFor(error) });
  };

  const make = (report: ReportRow, ending: AbortSignal): Promise<void> => {
    const progress: Progress = { progress: 0, rowCount: 0 };
    const fileKey = `${report.id}-${report.attempts}.${report.format.toLowerCase()}`;
    const note = () => noteProgress(db, report, progress);
    const onFailure = (err: unknown) =>
      log.debug({ err, reportId: report.id }, 'the progress could not be recorded');
    return whileAlive({ note, onFailure, ending }, async (signal) => {
      try {
        const made = await makeReport(report, fileKey, (now) => Object.assign(progress, now), signal);
        const sha256 = report.kind === 'INCIDENT_CHRONOLOGY' ? await files.hashOf(fileKey) : null;
        const counts = await settleReport(db, report, { status: 'DONE', fileKey, ...made }, sha256);
        if (!counts) await files.remove(fileKey);
      } catch (error) {
        await files.remove(fileKey);
        await settleFailure(report, signal.aborted ? signal.reason : error);
      }
    });
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
