import type { BackupOrigin } from '@gantry/contract/backups';
import { Gauge } from 'prom-client';
import type { Core } from '../../platform/context.ts';
import { inTransaction, type Transaction } from '../../platform/database/transaction.ts';
import { type Rounds, startPeriodic } from '../../platform/periodic.ts';
import type { Foundation } from '../../platform/start.ts';
import { BackupStopped, makeInProcess } from './process.ts';
import { makeNoted, reasonOf } from './recorded.ts';
import { type BackupsSoFar, beginBackup, readBackupsSoFar } from './runs-store.ts';
import { nextBackupAt, oldAfter, type Schedule, scheduleOf } from './schedule.ts';

/** How often to look whether a backup is due, in milliseconds. */
const LOOK_MS = 30_000;

type BackupParts = Pick<Core, 'config' | 'db' | 'log' | 'settings'>;

/**
 * Makes backups at their times and on request, until it is disposed of; disposing ends one that is in progress. Every
 * process of the service looks whether a backup is due, and the database gives it to one of them.
 */
export class Backups implements AsyncDisposable {
  readonly #parts: BackupParts;
  readonly #connectionString: string;
  readonly #onLook: (soFar: BackupsSoFar) => void;
  readonly #schedule: Schedule;
  readonly #ending = new AbortController();
  readonly #underway = new Set<Promise<void>>();
  readonly #looks: Rounds;

  /** @param onLook called with the state of all backups at the beginning, and after each look and each backup */
  constructor(parts: BackupParts, connectionString: string, onLook: (soFar: BackupsSoFar) => void) {
    this.#parts = parts;
    this.#connectionString = connectionString;
    this.#onLook = onLook;
    this.#schedule = scheduleOf(parts.config);
    const failure = 'it cannot be seen now whether a backup is due';
    this.#looks = startPeriodic({ everyMs: LOOK_MS, log: parts.log, failure }, async () => {
      const soFar = await this.#look();
      const due = this.#dueAt(soFar);
      if (due !== null && due <= soFar.now && this.#underway.size === 0) await this.begin('SCHEDULE', null);
    });
    this.#looks.startNow();
  }

  /**
   * Starts a backup, unless one is in progress in any process.
   * @param record what else to write in the transaction that starts it
   * @returns its id; null if one is in progress, or if there is no folder for backups
   */
  async begin(
    origin: BackupOrigin,
    startedBy: string | null,
    record?: (tx: Transaction, backupId: string) => Promise<void>,
  ): Promise<string | null> {
    const { db, log, config } = this.#parts;
    const folder = config.BACKUP_DIR;
    if (folder === undefined) return null;
    const id = await inTransaction(db, async (tx) => {
      const started = await beginBackup(tx, { origin, folder, startedBy });
      if (started !== null) await record?.(tx, started);
      return started;
    });
    if (id === null) return null;
    const running: Promise<void> = this.#make(id, folder)
      .then(async () => {
        if (!this.#ending.signal.aborted) await this.#look();
      })
      .catch((err: unknown) => log.error({ err }, 'the state of the backups cannot be read'))
      .finally(() => this.#underway.delete(running));
    this.#underway.add(running);
    return id;
  }

  /** When the next one is due (Unix milliseconds); null without a schedule. */
  async nextAt(): Promise<number | null> {
    const { db, config } = this.#parts;
    return this.#dueAt(await readBackupsSoFar(db, config.BACKUP_DIR));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#looks[Symbol.asyncDispose]();
    await Promise.all(this.#underway);
  }

  async #look(): Promise<BackupsSoFar> {
    const { db, config } = this.#parts;
    const soFar = await readBackupsSoFar(db, config.BACKUP_DIR);
    this.#onLook(soFar);
    return soFar;
  }

  #dueAt(soFar: BackupsSoFar): number | null {
    return nextBackupAt(this.#schedule, this.#parts.settings.current().timezone, soFar);
  }

  async #make(id: string, folder: string): Promise<void> {
    const { db, log, config } = this.#parts;
    const job = {
      config,
      connectionString: this.#connectionString,
      folder,
      keep: config.BACKUP_KEEP,
      recipients: config.BACKUP_ENCRYPT_TO,
    };
    const { signal } = this.#ending;
    try {
      const made = await makeNoted(db, { id, log }, (onProgress) =>
        makeInProcess(job, { log, signal, onProgress }),
      );
      const { path, seconds, events, pictures } = made;
      log.info({ path, seconds, events, pictures: pictures.count }, 'a backup was made');
    } catch (error) {
      if (error instanceof BackupStopped) return;
      const isTriedAgain = this.#schedule.kind !== 'manual';
      log.error(
        { folder, why: reasonOf(error) },
        `a backup could not be made${isTriedAgain ? '; it is tried again within an hour' : ''}`,
      );
    }
  }
}

/** The services of this module. */
export interface BackupServices {
  readonly backups: Backups;
}

/** Starts scheduled backups, and reports them in the metrics and in the health of the service. */
export function startBackupModule(
  { core, resources }: Pick<Foundation, 'core' | 'resources'>,
  connectionString: string,
): BackupServices {
  let report: ((soFar: BackupsSoFar) => void) | null = null;
  const onLook = (soFar: BackupsSoFar): void => {
    const isWanted = core.config.BACKUP_DIR !== undefined;
    // An installation without backups has no metrics of them, rather than an age of zero.
    if (isWanted || soFar.lastStart !== null) {
      report ??= createReport(core);
      report(soFar);
    }
    if (isWanted && soFar.lastStatus === 'FAILED') core.readiness.concerns.add('backup');
    else if (soFar.lastStatus !== 'RUNNING') core.readiness.concerns.delete('backup');
  };
  return { backups: resources.use(new Backups(core, connectionString, onLook)) };
}

function createReport({
  config,
  metrics,
  clock,
}: Pick<Core, 'config' | 'metrics' | 'clock'>): (soFar: BackupsSoFar) => void {
  const registers = [metrics.registry];
  let last: BackupsSoFar | null = null;
  new Gauge({
    name: 'gantry_backup_age_seconds',
    help: 'Time since the last complete backup, or since the installation if there is none, in seconds',
    registers,
    collect() {
      if (last) this.set((clock.now() - (last.completed?.end ?? last.installedAt)) / 1_000);
    },
  });
  new Gauge({
    name: 'gantry_backup_old_after_seconds',
    help: 'The age from which the last complete backup is old: one and a half intervals of the schedule, or a week without one, in seconds',
    registers,
  }).set(oldAfter(scheduleOf(config)) / 1_000);
  const duration = new Gauge({
    name: 'gantry_backup_duration_seconds',
    help: 'How long the last complete backup took, in seconds',
    registers,
  });
  const bytes = new Gauge({
    name: 'gantry_backup_bytes',
    help: 'What the last complete backup added to its folder: the archive and new images, in bytes',
    registers,
  });
  const failure = new Gauge({
    name: 'gantry_backup_last_failure_timestamp_seconds',
    help: 'When a backup failed last, in Unix seconds; 0 if none did',
    registers,
  });
  const failing = new Gauge({
    name: 'gantry_backup_failing',
    help: 'Whether the latest backup failed',
    registers,
  });
  return (soFar) => {
    last = soFar;
    const { completed } = soFar;
    duration.set(completed ? (completed.end - completed.start) / 1_000 : 0);
    bytes.set(completed?.bytes ?? 0);
    failure.set((soFar.lastFailure ?? 0) / 1_000);
    failing.set(soFar.lastStatus === 'FAILED' ? 1 : 0);
  };
}
