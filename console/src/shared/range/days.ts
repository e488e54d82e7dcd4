import { DAY_MS } from '@gantry/contract/durations';

/** The first and the last day of a range, both included, as `2026-05-01`, in the service's time zone. */
export interface DayRange {
  readonly startDate: string;
  readonly endDate: string;
}

export const presets = ['today', 'yesterday', 'last7', 'last30', 'thisMonth', 'lastMonth'] as const;
export type Preset = (typeof presets)[number];

/** The earliest day that a field accepts. It excludes partly typed years, such as `0202` while the user types 2026. */
export const FIRST_DAY = '1970-01-02';

/** Days and months are calculated in UTC, where all days have the same length. */
const dateOf = (day: string): Date => new Date(`${day}T00:00:00Z`);
const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

/** The day `days` days later, or earlier if negative. */
export function plusDays(day: string, days: number): string {
  const date = dateOf(day);
  date.setUTCDate(date.getUTCDate() + days);
  return dayOf(date);
}

/** The month `months` months later, or earlier if negative. @param month as `2026-05` */
function plusMonths(month: string, months: number): string {
  const date = dateOf(`${month}-01`);
  date.setUTCMonth(date.getUTCMonth() + months);
  return dayOf(date).slice(0, 7);
}

const monthOf = (day: string): string => day.slice(0, 7);

/** The days of a preset. `thisMonth` ends today. */
export function rangeOfPreset(preset: Preset, today: string): DayRange {
  switch (preset) {
    case 'today':
      return { startDate: today, endDate: today };
    case 'yesterday':
      return { startDate: plusDays(today, -1), endDate: plusDays(today, -1) };
    case 'last7':
      return { startDate: plusDays(today, -6), endDate: today };
    case 'last30':
      return { startDate: plusDays(today, -29), endDate: today };
    case 'thisMonth':
      return { startDate: `${monthOf(today)}-01`, endDate: today };
    case 'lastMonth':
      return rangeOfMonth(plusMonths(monthOf(today), -1));
  }
}

/** The days of a month. @param month as `2026-05` */
export function rangeOfMonth(month: string): DayRange {
  return { startDate: `${month}-01`, endDate: plusDays(`${plusMonths(month, 1)}-01`, -1) };
}

/** The current month and those before it, newest first, as `2026-05`. */
export function monthsUntil(today: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => plusMonths(monthOf(today), -at));
}

/** The preset, or the month as `2026-05`, that a range equals; null if there is none. Last month counts as a month. */
export function nameOfRange({ startDate, endDate }: DayRange, today: string): Preset | string | null {
  const isSame = (other: DayRange) => other.startDate === startDate && other.endDate === endDate;
  const preset = presets.find((each) => each !== 'lastMonth' && isSame(rangeOfPreset(each, today)));
  const month = monthOf(startDate);
  return preset ?? (isSame(rangeOfMonth(month)) ? month : null);
}

/** The number of days in a range. */
export function daysIn({ startDate, endDate }: DayRange): number {
  return (dateOf(endDate).getTime() - dateOf(startDate).getTime()) / DAY_MS + 1;
}

/** A day of a range: the wanted one if it lies in it, otherwise the last one that is over, or the last one. */
export function dayWithin(
  { startDate, endDate }: DayRange,
  wanted: string | undefined,
  today: string,
): string {
  if (wanted !== undefined && wanted >= startDate && wanted <= endDate) return wanted;
  const yesterday = plusDays(today, -1);
  return yesterday >= startDate && yesterday < endDate ? yesterday : endDate;
}

/** The preceding or following range of the same length, or month if the range is a whole month. */
export function besides(days: DayRange, direction: -1 | 1): DayRange {
  const month = monthOf(days.startDate);
  const whole = rangeOfMonth(month);
  if (whole.startDate === days.startDate && whole.endDate === days.endDate)
    return rangeOfMonth(plusMonths(month, direction));
  return moved(days, direction * daysIn(days));
}

/** The range moved by a number of days. */
export function moved({ startDate, endDate }: DayRange, days: number): DayRange {
  return { startDate: plusDays(startDate, days), endDate: plusDays(endDate, days) };
}
