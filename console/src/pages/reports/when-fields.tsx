import { DAY_MS } from '@gantry/contract/durations';
import type { ReportPeriod } from '@gantry/contract/reports';
import { dayFieldOf, reportPeriods } from '@gantry/contract/values';
import { useTranslation } from 'react-i18next';
import { Select } from '../../ui/select.tsx';

/** How often and when a schedule generates its report. */
export interface When {
  readonly every: ReportPeriod;
  readonly hour: number;
  /** 0 Sunday … 6 Saturday; used for weekly schedules. */
  readonly weekday: number;
  /** Used for monthly schedules. */
  readonly dayOfMonth: number;
  readonly enabled: boolean;
}

const SUNDAY = Date.UTC(2024, 0, 7);

/** The name of a day of the week. @param weekday 0 Sunday … 6 Saturday */
export function weekdayName(weekday: number, language: string): string {
  const format = new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' });
  return format.format(new Date(SUNDAY + weekday * DAY_MS));
}

const numbers = (first: number, last: number, labelOf: (value: number) => string) =>
  Array.from({ length: last - first + 1 }, (_, at) => ({
    value: String(first + at),
    label: labelOf(first + at),
  }));

export const hourText = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;

interface WhenFieldsProps {
  readonly when: When;
  readonly onChange: (when: When) => void;
}

/** The fields for when a schedule runs. */
export function WhenFields({ when, onChange }: WhenFieldsProps) {
  const { t, i18n } = useTranslation('reports');
  const field = dayFieldOf[when.every];
  const set = (change: Partial<When>) => onChange({ ...when, ...change });
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-3">
        <Select
          label={t('schedules.every')}
          name="every"
          value={when.every}
          options={reportPeriods.map((value) => ({ value, label: t(`periods.${value}`) }))}
          onChange={(every) => set({ every })}
        />
        {field === 'weekday' && (
          <Select
            label={t('schedules.weekday')}
            name="weekday"
            value={String(when.weekday)}
            options={numbers(0, 6, (weekday) => weekdayName(weekday, i18n.language))}
            onChange={(weekday) => set({ weekday: Number(weekday) })}
          />
        )}
        {field === 'dayOfMonth' && (
          <Select
            label={t('schedules.dayOfMonth')}
            name="dayOfMonth"
            value={String(when.dayOfMonth)}
            options={numbers(1, 31, (day) => day.toLocaleString(i18n.language))}
            onChange={(dayOfMonth) => set({ dayOfMonth: Number(dayOfMonth) })}
          />
        )}
        <Select
          label={t('schedules.hour')}
          name="hour"
          value={String(when.hour)}
          options={numbers(0, 23, hourText)}
          onChange={(hour) => set({ hour: Number(hour) })}
        />
      </div>
      <label className="flex items-center gap-2 pointer-coarse:min-h-11">
        <input
          type="checkbox"
          name="enabled"
          className="size-4 accent-accent"
          checked={when.enabled}
          onChange={(event) => set({ enabled: event.target.checked })}
        />
        {t('schedules.enabled')}
      </label>
    </>
  );
}
