import { z } from 'zod';
import { pageTotals, paging } from './page.ts';
import { person } from './person.ts';

/** The states of a backup. */
export const backupStatus = z.enum(['RUNNING', 'COMPLETED', 'STOPPED', 'FAILED']);
export type BackupStatus = z.infer<typeof backupStatus>;

/** What started a backup: its schedule, `backups.create`, or the command `gantry backup`. */
export const backupOrigin = z.enum(['SCHEDULE', 'USER', 'COMMAND']);
export type BackupOrigin = z.infer<typeof backupOrigin>;

const sizeInBytes = z.number().nullable().describe('Bytes; null unless COMPLETED.');
const countWhenDone = z.number().nullable().describe('null unless COMPLETED.');

export const backup = z.object({
  id: z.string(),
  status: backupStatus.describe(
    'STOPPED: its process ended before it was finished; nothing of it is left. FAILED: see `error`.',
  ),
  origin: backupOrigin,
  startedBy: person.nullable().describe('The user who called `backups.create`; null otherwise.'),
  startedAt: z.date(),
  finishedAt: z.date().nullable(),
  progress: z.number().describe('From 0 to 1, estimated.'),
  folder: z.string().describe('The folder of backups, on the machine that made it.'),
  name: z.string().nullable().describe('The folder of this backup within it; null unless COMPLETED.'),
  events: countWhenDone,
  rows: countWhenDone,
  bytes: sizeInBytes.describe('Size without images, in bytes; null unless COMPLETED.'),
  pictures: countWhenDone,
  newPictureBytes: sizeInBytes.describe(
    'Size of the images that no earlier backup in the folder had, in bytes; null unless COMPLETED.',
  ),
  lackingPictures: z
    .number()
    .nullable()
    .describe('Number of images that were missing or damaged in the store; null unless COMPLETED.'),
  recipients: z
    .array(z.string())
    .nullable()
    .describe(
      'The recipients of age for whom it is encrypted; [] if it is not. null unless COMPLETED, and if an earlier version made it.',
    ),
  error: z.string().nullable(),
});
export type Backup = z.infer<typeof backup>;

export const listBackupsInput = z.object(paging(20)).prefault({});
export type ListBackupsInput = z.infer<typeof listBackupsInput>;

export const backupsPage = z.object({
  backups: z
    .array(backup)
    .describe('Newest first. Backups that were removed from the folder stay in the list.'),
  settings: z
    .object({
      folder: z.string(),
      schedule: z
        .string()
        .describe('`BACKUP_SCHEDULE`: a time of day, an interval such as `6h`, or `manual`.'),
      keep: z.number().describe('Number of backups that are kept in the folder.'),
      recipients: z
        .array(z.string())
        .describe('`BACKUP_ENCRYPT_TO`: for whom the next ones are encrypted; [] if they are not.'),
      nextAt: z.date().nullable().describe('When the next backup is due; null for `manual`.'),
    })
    .nullable()
    .describe('null if `BACKUP_DIR` is not set: there are no scheduled backups.'),
  lastCompletedAt: z.date().nullable().describe('When the last complete backup was finished.'),
  ...pageTotals,
});
export type BackupsPage = z.infer<typeof backupsPage>;
