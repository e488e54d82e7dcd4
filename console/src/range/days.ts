import { DAY_MS } from '@gantry/contract/durations';

/** Whole days from the first to the last, as `2026-05-01`, in the zone of the service. */
export interface DayRange {
  readonly startDate: string;
  readonly endDate: string;
}

export const presets = ['today', 'yesterday', 'last7', 'last30', 'thisMonth', 'lastMonth'] as const;
export type Preset = (typeof presets)[number];

/** The first day that a field takes. Years are typed digit by digit, and `0202` is one on the way to 2026. */
export const FIRST_DAY = '1970-01-02';

/** Days and months are reckoned as moments of UTC, in which every day has the same length. */
const dateOf = (day: string): Date => new Date(`${day}T00:00:00Z`);
const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

/** The day that is so many days later. */
function plusDays(day: string, days: number): string {
  const date = dateOf(day);
  date.setUTCDate(date.getUTCDate() + days);
  return dayOf(date);
}

/** The month that is so many months later. @param month as `2026-05` */
function plusMonths(month: string, months: number): string {
  const date = dateOf(`${month}-01`);
  date.setUTCMonth(date.getUTCMonth() + months);
  return dayOf(date).slice(0, 7);
}

const monthOf = (day: string): string => day.slice(0, 7);

/** The days of a preset. The days of this month are those until today. */
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

/** @param month as `2026-05` */
export function rangeOfMonth(month: string): DayRange {
  return { startDate: `${month}-01`, endDate: plusDays(`${plusMonths(month, 1)}-01`, -1) };
}

/** This month and those before it, as `2026-05`. */
export function monthsUntil(today: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => plusMonths(monthOf(today), -at));
}

/** Which preset or month the days are; null for any others. */
export function nameOfRange({ startDate, endDate }: DayRange, today: string): Preset | string | null {
  const isSame = (other: DayRange) => other.startDate === startDate && other.endDate === endDate;
  const preset = presets.find((each) => each !== 'lastMonth' && isSame(rangeOfPreset(each, today)));
  const month = monthOf(startDate);
  return preset ?? (isSame(rangeOfMonth(month)) ? month : null);
}

/** How many days there are. */
export function daysIn({ startDate, endDate }: DayRange): number {
  return (dateOf(endDate).getTime() - dateOf(startDate).getTime()) / DAY_MS + 1;
}

/** The same number of days before or after, or the month before or after a whole one. */
export function besides(days: DayRange, direction: -1 | 1): DayRange {
  const month = monthOf(days.startDate);
  const whole = rangeOfMonth(month);
  if (whole.startDate === days.startDate && whole.endDate === days.endDate)
    return rangeOfMonth(plusMonths(month, direction));
  return moved(days, direction * daysIn(days));
}

/** The days moved by so many. */
export function moved({ startDate, endDate }: DayRange, days: number): DayRange {
  return { startDate: plusDays(startDate, days), endDate: plusDays(endDate, days) };
}
