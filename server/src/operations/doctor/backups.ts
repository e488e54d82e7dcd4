import { stat } from 'node:fs/promises';
import type { Finding } from '@gantry/contract/doctor';
import type { Config } from '../../platform/config.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { ignoreErrno } from '../../platform/errno.ts';
import { advice, fine, problem } from './findings.ts';
import { readBackupState } from './store.ts';

const DAY_HOURS = 24;
/** Without a schedule, a backup of last week is the newest that nobody would call old. */
const MANUAL_HOURS = 7 * DAY_HOURS;
/** A backup may take its time, and begin late. */
const LATE = 1.5;

/** Whether there are backups, how old the last one is, and whether it would be lost with the data. */
export async function examineBackups(db: Executor, config: Config): Promise<Finding[]> {
  const { age_hours: age, error: reason } = await readBackupState(db);
  const found: Finding[] = [];
  if (reason !== null) found.push(problem('backupFailed', { reason }));
  if (age === null) {
    // A new installation makes its first backup within a minute, if it makes any.
    if (reason === null) found.push((config.NODE_ENV === 'production' ? problem : advice)('noBackup'));
  } else {
    const hours = Math.floor(age);
    const isScheduled = config.BACKUP_DIR !== undefined && config.BACKUP_SCHEDULE !== 'manual';
    const isOld = age > (isScheduled ? intervalHours(config.BACKUP_SCHEDULE) * LATE : MANUAL_HOURS);
    if (isOld) found.push((isScheduled ? problem : advice)('backupOld', { hours }));
    else if (reason === null) found.push(fine('backupFine', { hours }));
  }
  const folder = config.BACKUP_DIR;
  if (folder !== undefined && (await isOnSameDisk(folder, config.DATA_DIR))) {
    found.push(advice('backupSameDisk', { folder }));
  }
  return found;
}

/** @param schedule as `BACKUP_SCHEDULE`: a time of day, or `6h` */
function intervalHours(schedule: string): number {
  return Number(/^(\d+)h$/.exec(schedule)?.[1] ?? DAY_HOURS);
}

async function isOnSameDisk(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all(
    [one, other].map((path) => ignoreErrno(stat(path), 'ENOENT', 'EACCES', 'ENOTDIR')),
  );
  return a !== undefined && b !== undefined && a.dev === b.dev;
}
