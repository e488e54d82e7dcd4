import type { BackupOrigin } from '@gantry/contract/backups';
import type { Core } from '../../platform/context.ts';
import { inTransaction, type Transaction } from '../../platform/database/transaction.ts';
import { safeText } from '../../platform/describe-error.ts';
import { startPeriodic } from '../../platform/periodic.ts';
import type { BackupResult } from './make.ts';
import { BackupStopped, makeInProcess } from './process.ts';
import { BackupRefused } from './refusal.ts';
import {
  type BackupsSoFar,
  beginBackup,
  noteCompleted,
  noteEnded,
  noteProgress,
  readBackupsSoFar,
} from './runs-store.ts';
import { nextBackupAt, scheduleOf } from './schedule.ts';

/** How often it is recorded that a backup is alive, in milliseconds. */
const ALIVE_MS = 5_000;

/** How often to look whether a backup is due, in milliseconds. */
const LOOK_MS = 30_000;

/** Makes backups at their times and on request. */
export interface Backups extends AsyncDisposable {
  /**
   * Starts a backup, unless one is in progress in any process.
   * @param record what else to write in the transaction that starts it
   * @returns its id; null if one is in progress, or if there is no folder for backups
   */
  begin(
    origin: BackupOrigin,
    startedBy: string | null,
    record?: (tx: Transaction, backupId: string) => Promise<void>,
  ): Promise<string | null>;
  /** When the next one is due (Unix milliseconds); null without a schedule. */
  nextAt(): Promise<number | null>;
  /** Called with the state of all backups at the beginning, and after each look and each backup. */
  onLook(listener: (soFar: BackupsSoFar) => void): void;
}

/**
 * Looks regularly whether a backup is due, until it is disposed of; disposing ends one that is in progress. Every
 * process of the service does so, and the database gives a backup to one of them.
 */
export function startBackups(
  { config, db, log, settings }: Pick<Core, 'config' | 'db' | 'log' | 'settings'>,
  connectionString: string,
): Backups {
  const ending = new AbortController();
  const underway = new Set<Promise<void>>();
  const listeners: ((soFar: BackupsSoFar) => void)[] = [];
  const schedule = scheduleOf(config);
  const folder = config.BACKUP_DIR;

  const look = async (): Promise<BackupsSoFar> => {
    const soFar = await readBackupsSoFar(db, folder);
    for (const tell of listeners) tell(soFar);
    return soFar;
  };
  const dueAt = (soFar: BackupsSoFar): number | null =>
    nextBackupAt(schedule, settings.current().timezone, soFar);

  const carryOut = async (id: string, into: string): Promise<BackupResult> => {
    let progress = 0;
    await using _beats = startPeriodic(
      { everyMs: ALIVE_MS, log, failure: 'the progress of a backup could not be recorded' },
      () => noteProgress(db, id, progress),
    );
    return await makeInProcess(
      { config, connectionString, folder: into, keep: config.BACKUP_KEEP },
      {
        log,
        signal: ending.signal,
        onProgress: (done) => {
          progress = done;
        },
      },
    );
  };

  const run = async (id: string, into: string): Promise<void> => {
    try {
      const made = await carryOut(id, into);
      await noteCompleted(db, id, made);
      const { seconds, events, pictures } = made;
      log.info({ path: made.path, seconds, events, pictures: pictures.count }, 'a backup was made');
    } catch (err) {
      if (err instanceof BackupStopped) return noteEnded(db, id, 'STOPPED', null);
      const reason = err instanceof BackupRefused ? err.message : safeText(err);
      log.error(
        { folder: into, why: reason },
        `a backup could not be made${schedule.kind === 'manual' ? '' : '; it is tried again within an hour'}`,
      );
      await noteEnded(db, id, 'FAILED', reason);
    }
  };

  const begin: Backups['begin'] = async (origin, startedBy, record) => {
    if (folder === undefined) return null;
    const id = await inTransaction(db, async (tx) => {
      const started = await beginBackup(tx, { origin, folder, startedBy });
      if (started !== null) await record?.(tx, started);
      return started;
    });
    if (id === null) return null;
    const running: Promise<void> = run(id, folder)
      .then(() => (ending.signal.aborted ? undefined : look()))
      .then(() => undefined)
      .catch((err: unknown) => log.error({ err, backupId: id }, 'the end of a backup could not be recorded'))
      .finally(() => underway.delete(running));
    underway.add(running);
    return id;
  };

  const looks = startPeriodic(
    { everyMs: LOOK_MS, log, failure: 'it cannot be seen now whether a backup is due' },
    async () => {
      const soFar = await look();
      const due = dueAt(soFar);
      if (due !== null && due <= soFar.now && underway.size === 0) await begin('SCHEDULE', null);
    },
  );

  return {
    begin,
    nextAt: async () => dueAt(await readBackupsSoFar(db, folder)),
    onLook(listener) {
      listeners.push(listener);
      looks.startNow();
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await looks[Symbol.asyncDispose]();
      await Promise.all(underway);
    },
  };
}
