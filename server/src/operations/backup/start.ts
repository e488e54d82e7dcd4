import { Gauge } from 'prom-client';
import type { Core } from '../../platform/context.ts';
import type { Foundation } from '../../platform/start.ts';
import { type Backups, startBackups } from './backups.ts';
import type { BackupsSoFar } from './runs-store.ts';
import { oldAfter, scheduleOf } from './schedule.ts';

/** The services of this module. */
export interface BackupServices {
  readonly backups: Backups;
}

/** Starts scheduled backups, and reports them in the metrics and in the health of the service. */
export function startBackupModule(
  { core, resources }: Pick<Foundation, 'core' | 'resources'>,
  connectionString: string,
): BackupServices {
  const backups = resources.use(startBackups(core, connectionString));
  let report: ((soFar: BackupsSoFar) => void) | null = null;
  backups.onLook((soFar) => {
    const isWanted = core.config.BACKUP_DIR !== undefined;
    // An installation without backups has no metrics of them, rather than an age of zero.
    if (isWanted || soFar.lastStart !== null) {
      report ??= createReport(core);
      report(soFar);
    }
    if (isWanted && soFar.lastStatus === 'FAILED') core.readiness.concerns.add('backup');
    else if (soFar.lastStatus !== 'RUNNING') core.readiness.concerns.delete('backup');
  });
  return { backups };
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
    help: 'What the last complete backup added to its folder: the archive and new pictures, in bytes',
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
