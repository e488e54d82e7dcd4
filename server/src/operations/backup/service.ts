import type { Backup, BackupsPage, ListBackupsInput } from '@gantry/contract/backups';
import { pageCount } from '@gantry/contract/page';
import { recordActivity } from '../../activity/store.ts';
import type { ActorContext, Core } from '../../platform/context.ts';
import { AppError } from '../../platform/error.ts';
import { listBackupRuns, readBackupsSoFar } from './runs-store.ts';
import type { BackupServices } from './start.ts';

type BackupContext = ActorContext<Core & BackupServices>;

/** The backups of this installation, and when the next one is due. */
export async function listBackups({ app }: BackupContext, input: ListBackupsInput): Promise<BackupsPage> {
  const { items, total } = await listBackupRuns(app.db, input);
  const { BACKUP_DIR: folder, BACKUP_SCHEDULE: schedule, BACKUP_KEEP: keep } = app.config;
  const recipients = [...app.config.BACKUP_ENCRYPT_TO];
  const { completed } = await readBackupsSoFar(app.db, folder);
  const nextAt = await app.backups.nextAt();
  return {
    backups: items,
    settings:
      folder === undefined
        ? null
        : { folder, schedule, keep, recipients, nextAt: nextAt === null ? null : new Date(nextAt) },
    lastCompletedAt: completed && new Date(completed.end),
    total,
    pageCount: pageCount(total, input.take),
  };
}

/**
 * Starts a backup, which continues after the answer.
 * @throws AppError `conflict` without a folder for backups, or when a backup is in progress
 */
export async function createBackup({ app, actor, caller }: BackupContext): Promise<Backup> {
  if (app.config.BACKUP_DIR === undefined) {
    throw new AppError('conflict', 'There is no folder for backups: set BACKUP_DIR and restart the service');
  }
  const id = await app.backups.begin('USER', actor.id, (tx, backupId) =>
    recordActivity(tx, actor.id, caller, 'backups.create', { backupId }),
  );
  if (id === null)
    throw new AppError('conflict', 'A backup is already in progress: wait until it has finished');
  const { items } = await listBackupRuns(app.db, { skip: 0, take: 1, id });
  if (!items[0]) throw new Error('The backup that was started does not exist');
  return items[0];
}
