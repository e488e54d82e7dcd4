import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import { DateTime } from 'luxon';
import type { Config } from '../../platform/config.ts';
import type { BackupsSoFar } from './runs-store.ts';

/** Pause after a failure before another attempt, in milliseconds. */
const RETRY_MS = HOUR_MS / 2;

/** When backups are made: at a time of day, or some time after the last one began. */
export type Schedule =
  | { readonly kind: 'daily'; readonly hour: number; readonly minute: number }
  | { readonly kind: 'every'; readonly ms: number }
  | { readonly kind: 'manual' };

type BackupSettings = Pick<Config, 'BACKUP_DIR' | 'BACKUP_SCHEDULE'>;

/** The form of `BACKUP_SCHEDULE` (platform/config): `02:30`, `6h` or `manual`. */
const SCHEDULE = /^(?:([01]\d|2[0-3]):([0-5]\d)|([1-9]\d{0,2})h|manual)$/;

/** Parses a schedule. @param text in the form of `BACKUP_SCHEDULE` */
export function readSchedule(text: string): Schedule {
  const [, hour, minute, hours] = SCHEDULE.exec(text) ?? [];
  if (hours !== undefined) return { kind: 'every', ms: Number(hours) * HOUR_MS };
  return hour === undefined
    ? { kind: 'manual' }
    : { kind: 'daily', hour: Number(hour), minute: Number(minute) };
}

/** The age from which the last complete backup is old if there is no schedule, in milliseconds. */
const UNSCHEDULED_OLD_MS = 7 * DAY_MS;
/** How many intervals of the schedule old the last complete backup may be: a backup takes time, and may begin late. */
const LATE = 1.5;

/** The schedule of a service with these settings; without a folder, backups are made by commands only. */
export function scheduleOf({ BACKUP_DIR, BACKUP_SCHEDULE }: BackupSettings): Schedule {
  return BACKUP_DIR === undefined ? { kind: 'manual' } : readSchedule(BACKUP_SCHEDULE);
}

/** The age in milliseconds from which the last complete backup is old. */
export function oldAfter(schedule: Schedule): number {
  if (schedule.kind === 'manual') return UNSCHEDULED_OLD_MS;
  return LATE * (schedule.kind === 'every' ? schedule.ms : DAY_MS);
}

/**
 * When the next backup is due (Unix milliseconds); null for `manual`. A time in the past means: now.
 * @param zone the time zone of the service (IANA)
 */
export function nextBackupAt(schedule: Schedule, zone: string, soFar: BackupsSoFar): number | null {
  if (schedule.kind === 'manual') return null;
  const { lastStatus, lastEnd } = soFar;
  // After a failure, a backup is not due at once, so that a full disk is not tried every minute, but sooner than after a
  // success.
  return lastStatus === 'FAILED' && lastEnd !== null
    ? lastEnd + RETRY_MS
    : regularlyAt(schedule, zone, soFar);
}

function regularlyAt(
  schedule: Exclude<Schedule, { kind: 'manual' }>,
  zone: string,
  { now, completed }: BackupsSoFar,
): number {
  if (completed === null) return now;
  if (schedule.kind === 'every') return completed.start + schedule.ms;
  const { hour, minute } = schedule;
  const after = DateTime.fromMillis(completed.start, { zone });
  const sameDay = after.startOf('day').set({ hour, minute });
  const next = sameDay > after ? sameDay : after.plus({ days: 1 }).startOf('day').set({ hour, minute });
  return next.toMillis();
}
