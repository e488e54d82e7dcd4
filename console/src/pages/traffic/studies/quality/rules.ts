import type { QualityFlag, Severity } from '@gantry/contract/quality';
import { useTranslation } from 'react-i18next';
import type { TimeFormat } from '../../../../shared/time/format.ts';
import type { Look } from '../../../../ui/badge.tsx';

/** What a rule measures, and its threshold: a number of a unit, or a share of 0 to 1. */
type Measure = 'hours' | 'minutes' | 'seconds' | 'vehicles' | 'perLane' | 'kmh' | 'share' | 'number';

const measures: Readonly<Partial<Record<QualityFlag['rule'], Measure>>> = {
  ...{ R1: 'hours', R2: 'minutes', R3: 'vehicles', R4: 'minutes', R5: 'hours', R6: 'seconds' },
  ...{ R7: 'share', R8: 'share', R9: 'share', R10: 'share', R13: 'share', R14: 'kmh' },
  ...{ R15: 'share', R16: 'share' },
};

/** The unit of what a rule measured. R12 judges hourly volumes of lanes, or shares, which are smaller than 2. */
export function measureOf({ rule, threshold }: Pick<QualityFlag, 'rule' | 'threshold'>): Measure {
  if (rule === 'R12') return (threshold ?? 0) < 2 ? 'share' : 'perLane';
  return measures[rule] ?? 'number';
}

/** What a rule measured and its threshold, as a text with the unit; an empty text where there is no value. */
export function useMeasured(): (flag: Pick<QualityFlag, 'rule' | 'value' | 'threshold'>) => string {
  const { t, i18n } = useTranslation('studies');
  return (flag) => {
    const { value, threshold } = flag;
    if (value === null) return '';
    const measure = measureOf(flag);
    const number = new Intl.NumberFormat(i18n.language, {
      ...(measure === 'share' && { style: 'percent' }),
      maximumFractionDigits: 1,
    });
    const withUnit = (of: number) =>
      measure === 'share' || measure === 'number'
        ? number.format(of)
        : t(`quality.measures.${measure}`, { value: number.format(of) });
    return threshold === null
      ? withUnit(value)
      : t('quality.beyond', { value: withUnit(value), threshold: withUnit(threshold) });
  };
}

/** How the severity of a flag is shown. */
export const severityLooks: Readonly<Record<Severity, Look>> = {
  REJECT: { tone: 'high', icon: 'high' },
  SUSPECT: { tone: 'medium', icon: 'medium' },
  INFO: { tone: 'calm', icon: 'low' },
};

/** Flags that are not shown to be decided on: those that are only something to know. */
export function isDecidable({ severity }: Pick<QualityFlag, 'severity'>): boolean {
  return severity !== 'INFO';
}

interface Span {
  readonly from: Date;
  readonly until: Date;
}

/** A span as `traffic.reviewData` takes it: both ends are in it. */
export function rangeOfSpan({ from, until }: Span): { startDate: string; endDate: string } {
  return { startDate: from.toISOString(), endDate: new Date(until.getTime() - 1).toISOString() };
}

/** Whether a span and a day of the calendar have a time in common. @param isoDay names the day of a time */
export function touchesDay({ from, until }: Span, day: string, isoDay: (at: Date) => string): boolean {
  return isoDay(from) <= day && isoDay(new Date(until.getTime() - 1)) >= day;
}

/** A span as `2026-05-01 08:00–09:30`, with the days and the offsets of both ends where they differ. */
export function spanText(time: TimeFormat, { from, until }: Span): string {
  const isOneOffset = time.offset(from) === time.offset(until);
  const clock = (at: Date) => `${time.minute(at)}${isOneOffset ? '' : ` ${time.offset(at)}`}`;
  const start = `${time.date(from)} ${clock(from)}`;
  return time.isoDay(from) === time.isoDay(until)
    ? `${start}–${clock(until)}`
    : `${start} – ${time.date(until)} ${clock(until)}`;
}
