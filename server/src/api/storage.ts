import { backup, backupsPage, listBackupsInput } from '@gantry/contract/backups';
import { byId } from '@gantry/contract/id';
import {
  holdDetail,
  holdsPage,
  listHoldsInput,
  previewRetentionInput,
  retentionPreview,
  retentionRun,
  retentionRunsInput,
  retentionRunsPage,
  retentionSettings,
  setHoldInput,
  setRetentionInput,
  storageStats,
} from '@gantry/contract/storage';
import { getHold, listHolds, releaseHold, setHold } from '../events/holds-store.ts';
import { createBackup, listBackups } from '../operations/backup/service.ts';
import { getStorageStats } from '../operations/retention/preview.ts';
import { previewRetention, runRetention, setRetention } from '../operations/retention/service.ts';
import { getRetentionSettings, listRuns } from '../operations/retention/store.ts';
import { allowed, pageOf, router, signedIn } from './procedures.ts';

export const storageRouter = router({
  getStats: signedIn
    .meta({ question: true, summary: 'Show what is stored and how much space it uses' })
    .output(storageStats)
    .query(({ ctx }) => getStorageStats(ctx.app)),

  getRetention: allowed('systemSettings')
    .meta({
      summary: 'Get the retention rules of events, images, reports, the activity log and traffic counts',
    })
    .output(retentionSettings)
    .query(({ ctx }) => getRetentionSettings(ctx.app.db)),

  setRetention: allowed('systemSettings')
    .meta({
      summary: 'Change the retention rules',
      notes:
        'Classes that are not given do not change; `events` is replaced as a whole. Everything is kept indefinitely unless a number of days is given. Traffic counts are kept when their events are removed. Only the class `traffic` removes counts, which leaves a gap. Nothing is removed before the daily run at 3:00 in the time zone of the service; `storage.previewRetention` shows what that run will remove. With `expectedUpdatedAt`, a change by somebody else that you did not see is not overwritten (CONFLICT, with the name of that person).',
    })
    .input(setRetentionInput)
    .output(retentionSettings)
    .mutation(({ ctx, input }) => setRetention(ctx, input)),

  previewRetention: allowed('systemSettings')
    .meta({
      summary: 'Show what retention would remove now, and what legal holds protect',
      notes:
        'Uses the current rules, except for classes given in the input; nothing is changed. Images are counted if no event refers to them after the other removals.',
    })
    .input(previewRetentionInput)
    .output(retentionPreview)
    .query(({ ctx, input }) => previewRetention(ctx, input)),

  runRetention: allowed('systemSettings')
    .meta({
      summary: 'Run retention now',
      notes: 'Returns the run that was started; `storage.getRetentionRuns` shows its progress.',
    })
    .output(retentionRun)
    .mutation(({ ctx }) => runRetention(ctx)),

  getRetentionRuns: allowed('systemSettings')
    .meta({ summary: 'List the runs of retention and what they removed, newest first' })
    .input(retentionRunsInput)
    .output(retentionRunsPage)
    .query(async ({ ctx, input }) => pageOf('runs', await listRuns(ctx.app.db, input), input.take)),

  setHold: allowed('systemSettings')
    .meta({
      summary: 'Put events under a legal hold',
      notes:
        'Until the hold is released, neither retention nor `events.delete` removes the events or their images. An event may be under several holds.',
    })
    .input(setHoldInput)
    .output(holdDetail)
    .mutation(({ ctx, input }) => setHold(ctx, input)),

  releaseHold: allowed('systemSettings')
    .meta({ summary: 'Release a legal hold' })
    .input(byId)
    .output(holdDetail)
    .mutation(({ ctx, input }) => releaseHold(ctx, input.id)),

  getHolds: allowed('systemSettings')
    .meta({ summary: 'List legal holds, newest first' })
    .input(listHoldsInput)
    .output(holdsPage)
    .query(async ({ ctx, input }) => pageOf('holds', await listHolds(ctx.app.db, input), input.take)),

  getHold: allowed('systemSettings')
    .meta({ summary: 'Get a legal hold with its events' })
    .input(byId)
    .output(holdDetail)
    .query(({ ctx, input }) => getHold(ctx.app.db, input.id)),
});

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
        'It is made in `BACKUP_DIR`, of the database and the images together, while the service runs. Returns the backup that was started; `backups.getAll` shows its progress.',
    })
    .output(backup)
    .mutation(({ ctx }) => createBackup(ctx)),
});
