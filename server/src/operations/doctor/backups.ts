import { stat } from 'node:fs/promises';
import type { Finding } from '@gantry/contract/doctor';
import { HOUR_MS } from '@gantry/contract/durations';
import type { Config } from '../../platform/config.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { ignoreErrno } from '../../platform/errno.ts';
import { oldAfter, scheduleOf } from '../backup/schedule.ts';
import { advice, fine, problem } from './findings.ts';
import { readBackupState } from './store.ts';

/** Whether there are backups, how old the last one is, and whether it would be lost with the data. */
export async function examineBackups(db: Executor, config: Config): Promise<Finding[]> {
  const { age_hours: age, error: reason } = await readBackupState(db, config.BACKUP_DIR);
  const found: Finding[] = [];
  if (reason !== null) found.push(problem('backupFailed', { reason }));
  if (age === null) {
    // A new installation makes its first backup within a minute, if it makes any.
    const code = config.BACKUP_DIR === undefined ? 'noBackup' : 'noBackupYet';
    if (reason === null) found.push((config.NODE_ENV === 'production' ? problem : advice)(code));
  } else {
    const hours = Math.floor(age);
    const schedule = scheduleOf(config);
    if (age * HOUR_MS > oldAfter(schedule))
      found.push((schedule.kind === 'manual' ? advice : problem)('backupOld', { hours }));
    else if (reason === null) found.push(fine('backupFine', { hours }));
  }
  const folder = config.BACKUP_DIR;
  if (folder !== undefined && (await isOnSameDisk(folder, config.DATA_DIR))) {
    found.push(advice('backupSameDisk', { folder }));
  }
  return found;
}

async function isOnSameDisk(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all(
    [one, other].map((path) => ignoreErrno(stat(path), 'ENOENT', 'EACCES', 'ENOTDIR')),
  );
  return a !== undefined && b !== undefined && a.dev === b.dev;
}
