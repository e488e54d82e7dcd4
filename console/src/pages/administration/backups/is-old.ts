import { HOUR_MS } from '@gantry/contract/durations';

const DAY_HOURS = 24;
/** Maximum age without a schedule: a week. */
const MANUAL_HOURS = 7 * DAY_HOURS;
/** Factor on the interval, because a backup may start late and take long. */
const LATE = 1.5;

/** Whether the newest backup is older than its schedule allows. @param schedule as in `BACKUP_SCHEDULE`; null: none */
export function isOld(lastCompletedAt: Date, schedule: string | null, now: number): boolean {
  const hours = /^(\d+)h$/.exec(schedule ?? '')?.[1];
  const isDaily = schedule?.includes(':') ?? false;
  const most = hours !== undefined ? Number(hours) * LATE : isDaily ? DAY_HOURS * LATE : MANUAL_HOURS;
  return now - lastCompletedAt.getTime() > most * HOUR_MS;
}
