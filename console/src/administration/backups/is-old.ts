import { HOUR_MS } from '@gantry/contract/durations';

const DAY_HOURS = 24;
/** Without a schedule, a backup of last week is the newest that nobody would call old. */
const MANUAL_HOURS = 7 * DAY_HOURS;
/** A backup may take its time, and begin late. */
const LATE = 1.5;

/** Whether the newest backup is older than it would be by its schedule. @param schedule as `BACKUP_SCHEDULE`; null: none */
export function isOld(lastCompletedAt: Date, schedule: string | null, now: number): boolean {
  const hours = /^(\d+)h$/.exec(schedule ?? '')?.[1];
  const isDaily = schedule?.includes(':') ?? false;
  const most = hours !== undefined ? Number(hours) * LATE : isDaily ? DAY_HOURS * LATE : MANUAL_HOURS;
  return now - lastCompletedAt.getTime() > most * HOUR_MS;
}
