import { backup, backupsPage, listBackupsInput } from '@gantry/contract/backups';
import { createBackup, listBackups } from '../operations/backup/service.ts';
import { allowed, router } from './procedures.ts';

export const backupsRouter = router({
  getAll: allowed('systemSettings')
    .meta({
      summary: 'List the backups of this installation, newest first, with their progress',
      notes:
        'Includes backups that were made with the command `gantry backup`, and those that were removed from their folder since. `settings` says where and when backups are made.',
    })
    .input(listBackupsInput)
    .output(backupsPage)
    .query(({ ctx, input }) => listBackups(ctx, input)),

  create: allowed('systemSettings')
    .meta({
      summary: 'Make a backup now',
      notes:
        'It is made in `BACKUP_DIR`, of the database and the pictures together, while the service runs. Returns the backup that was started; `backups.getAll` shows its progress.',
    })
    .output(backup)
    .mutation(({ ctx }) => createBackup(ctx)),
});
