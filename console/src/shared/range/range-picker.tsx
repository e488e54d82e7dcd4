import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/select.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { DateField } from '../form/date-field.tsx';
import { useNow, useServiceTime } from '../time/use-time.ts';
import { useIsTimeKnown } from '../time/zone.ts';
import {
  besides,
  type DayRange,
  FIRST_DAY,
  monthsUntil,
  nameOfRange,
  type Preset,
  presets,
  rangeOfMonth,
  rangeOfPreset,
} from './days.ts';

interface RangePickerProps {
  readonly range: DayRange;
  readonly today: string;
  readonly onChange: (range: DayRange) => void;
  /** The label of a second range picker on the same page, which has no keyboard shortcuts. */
  readonly label?: string;
}

/** The number of months to choose from: five years, which is the maximum length of a range. */
const MONTHS = 60;
const OTHER = 'other';

const isPreset = (value: string): value is Preset => presets.some((preset) => preset === value);

/**
 * Selects a range of days by preset, by month, or by its first and last day. `[` and `]` select the preceding and the
 * following range.
 */
export function RangePicker({ range, today, onChange, label }: RangePickerProps) {
  const { t, i18n } = useTranslation('range');
  const months = new Intl.DateTimeFormat(i18n.language, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  const current = nameOfRange(range, today) ?? OTHER;
  const names = monthsUntil(today, MONTHS);
  const go = (direction: -1 | 1) => onChange(besides(range, direction));
  const isSecond = label !== undefined;
  useShortcuts(
    isSecond
      ? []
      : [
          { keys: '[', label: t('before'), scope: 'page', run: () => go(-1) },
          { keys: ']', label: t('after'), scope: 'page', run: () => go(1) },
        ],
  );
  return (
    <div className="flex flex-wrap items-end gap-2">
      <Select
        label={label ?? t('range')}
        value={current}
        options={[
          ...presets
            .filter((preset) => preset !== 'lastMonth')
            .map((preset) => ({ value: preset as string, label: t(`presets.${preset}`) })),
          ...(current === OTHER || isPreset(current) || names.includes(current)
            ? names
            : [current, ...names]
          ).map((month) => ({ value: month, label: months.format(new Date(`${month}-01T00:00:00Z`)) })),
          ...(current === OTHER ? [{ value: OTHER, label: t('other') }] : []),
        ]}
        onChange={(value) => {
          if (isPreset(value)) onChange(rangeOfPreset(value, today));
          else if (value !== OTHER) onChange(rangeOfMonth(value));
        }}
      />
      <Button kind="plain" icon="previous" iconOnly aria-label={t('before')} onClick={() => go(-1)} />
      <DateField
        className="w-40"
        min={FIRST_DAY}
        label={t('from')}
        value={range.startDate}
        onChange={(day) =>
          day && onChange({ startDate: day, endDate: day > range.endDate ? day : range.endDate })
        }
      />
      <DateField
        className="w-40"
        min={FIRST_DAY}
        label={t('until')}
        value={range.endDate}
        onChange={(day) =>
          day && onChange({ startDate: day < range.startDate ? day : range.startDate, endDate: day })
        }
      />
      <Button kind="plain" icon="next" iconOnly aria-label={t('after')} onClick={() => go(1)} />
    </div>
  );
}

/** The current day in the service's time zone, as `2026-05-01`; null until the time zone is known. */
export function useToday(): string | null {
  const time = useServiceTime();
  const now = useNow(60_000);
  return useIsTimeKnown() ? time.isoDay(new Date(now)) : null;
}
