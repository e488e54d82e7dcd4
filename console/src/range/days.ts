import { Temporal } from 'temporal-polyfill';

/** Whole days from the first to the last, as `2026-05-01`, in the zone of the service. */
export interface DayRange {
  readonly startDate: string;
  readonly endDate: string;
}

export const presets = ['today', 'yesterday', 'last7', 'last30', 'thisMonth', 'lastMonth'] as const;
export type Preset = (typeof presets)[number];

const { PlainDate, PlainYearMonth } = Temporal;

function range(start: Temporal.PlainDate, end: Temporal.PlainDate): DayRange {
  return { startDate: start.toString(), endDate: end.toString() };
}

/** The days of a preset. The days of this month are those until today. */
export function rangeOfPreset(preset: Preset, today: string): DayRange {
  const day = PlainDate.from(today);
  switch (preset) {
    case 'today':
      return range(day, day);
    case 'yesterday':
      return range(day.subtract({ days: 1 }), day.subtract({ days: 1 }));
    case 'last7':
      return range(day.subtract({ days: 6 }), day);
    case 'last30':
      return range(day.subtract({ days: 29 }), day);
    case 'thisMonth':
      return range(day.with({ day: 1 }), day);
    case 'lastMonth':
      return rangeOfMonth(day.toPlainYearMonth().subtract({ months: 1 }).toString());
  }
}

/** @param month as `2026-05` */
export function rangeOfMonth(month: string): DayRange {
  const whole = PlainYearMonth.from(month);
  return range(whole.toPlainDate({ day: 1 }), whole.toPlainDate({ day: whole.daysInMonth }));
}

/** This month and those before it, as `2026-05`. */
export function monthsUntil(today: string, count: number): string[] {
  const month = PlainDate.from(today).toPlainYearMonth();
  return Array.from({ length: count }, (_, at) => month.subtract({ months: at }).toString());
}

/** Which preset or month the days are; null for any others. */
export function nameOfRange({ startDate, endDate }: DayRange, today: string): Preset | string | null {
  const isSame = (other: DayRange) => other.startDate === startDate && other.endDate === endDate;
  const preset = presets.find((each) => each !== 'lastMonth' && isSame(rangeOfPreset(each, today)));
  const month = startDate.slice(0, 7);
  return preset ?? (isSame(rangeOfMonth(month)) ? month : null);
}

/** How many days there are. */
export function daysIn({ startDate, endDate }: DayRange): number {
  return PlainDate.from(startDate).until(PlainDate.from(endDate)).days + 1;
}

/** The same number of days before or after, or the month before or after a whole one. */
export function besides(days: DayRange, direction: -1 | 1): DayRange {
  const month = days.startDate.slice(0, 7);
  const whole = rangeOfMonth(month);
  if (whole.startDate === days.startDate && whole.endDate === days.endDate)
    return rangeOfMonth(PlainYearMonth.from(month).add({ months: direction }).toString());
  return moved(days, direction * daysIn(days));
}

/** The days moved by so many. */
export function moved({ startDate, endDate }: DayRange, days: number): DayRange {
  return range(PlainDate.from(startDate).add({ days }), PlainDate.from(endDate).add({ days }));
}
