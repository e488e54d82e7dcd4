import { useTranslation } from 'react-i18next';
import { FilterField } from '../../../shared/filters/filter-field.tsx';
import { weekdaysFrom } from '../../../shared/time/format.ts';
import { useTimeSettings } from '../../../shared/time/zone.ts';
import { useAnchored } from '../../../ui/anchored.ts';
import { Button } from '../../../ui/button.tsx';
import { Popover } from '../../../ui/popover.tsx';
import { Select } from '../../../ui/select.tsx';
import { speedClasses, speedSearch, weekdayNames } from '../search.ts';
import { WindowFields } from './peak-windows.tsx';
import type { SpeedChoice } from './speed-study.ts';

interface SpeedFiltersProps {
  readonly choice: Omit<SpeedChoice, 'place'>;
  readonly onChange: (change: Readonly<Record<string, unknown>>) => void;
}

const methods = ['LINEAR', 'NEAREST_RANK', 'CLASSED'] as const;
const WHOLE_DAY = '00:00-24:00';

/** A text that stands in the middle of a sentence elsewhere, as the name of a choice. */
export function capital(text: string, language: string): string {
  return text.charAt(0).toLocaleUpperCase(language) + text.slice(1);
}

/** The fields of the method, and of what is studied: days, hours and a class of vehicles. */
export function SpeedFilters({ choice, onChange }: SpeedFiltersProps) {
  const { t, i18n } = useTranslation('studies');
  const { method, classes, vehicleClass } = choice;
  return (
    <>
      <Select
        label={t('speed.method')}
        value={method}
        options={methods.map((value) => ({ value, label: capital(t(`methods.${value}`), i18n.language) }))}
        onChange={(value) => onChange({ method: value, classes: undefined })}
      />
      {method === 'CLASSED' && (
        <div className="w-64 max-w-full">
          <FilterField
            filter={{ kind: 'text', name: 'classes', label: t('speed.classes') }}
            value={classes}
            onChange={(value) => onChange({ classes: speedSearch.classes(value) })}
          />
        </div>
      )}
      <TimesFilter {...{ choice, onChange }} />
      <Select
        label={t('speed.class')}
        value={vehicleClass ?? ''}
        options={[
          { value: '', label: t('counts.motorVehicles') },
          ...speedClasses.map((value) => ({ value: value as string, label: t(`classes.${value}`) })),
        ]}
        onChange={(value) => onChange({ vehicleClass: value || undefined })}
      />
    </>
  );
}

/** A button that shows the days of the week and the hours that are studied, and opens the fields for them. */
export function TimesFilter({
  choice: { weekdays, hours },
  onChange,
}: {
  readonly choice: Pick<SpeedChoice, 'weekdays' | 'hours'>;
  readonly onChange: SpeedFiltersProps['onChange'];
}) {
  const { t } = useTranslation('studies');
  const label = t('speed.times');
  const times = useTimesText()({ weekdays, hours });
  const days = useWeekdays();
  return (
    <div className="flex flex-col gap-1">
      <span className="text-sm text-muted" aria-hidden="true">
        {label}
      </span>
      <Popover
        trigger={
          <Button icon="time" aria-label={`${label}: ${times}`}>
            <bdi className="figures">{times}</bdi>
          </Button>
        }
        anchored={useAnchored()}
        label={label}
        align="start"
        className="flex max-w-[calc(100vw-1.5rem)] flex-col gap-3"
      >
        <FilterField
          filter={{
            kind: 'choices',
            name: 'weekdays',
            label: t('speed.weekdays'),
            options: days.map(({ value, name }) => ({ value, label: name })),
          }}
          value={weekdays ?? weekdayNames}
          onChange={(value) =>
            onChange({ weekdays: Array.isArray(value) && value.length < 7 ? value : undefined })
          }
        />
        <WindowFields
          legend={t('speed.hours')}
          span={hours ?? WHOLE_DAY}
          onChange={(span) => onChange({ hours: span === WHOLE_DAY ? undefined : span })}
        />
        <Button
          disabled={weekdays === undefined && hours === undefined}
          onClick={() => onChange({ weekdays: undefined, hours: undefined })}
        >
          {t('speed.allTimes')}
        </Button>
      </Popover>
    </div>
  );
}

/** The days of the week in the order of the service's settings. */
function useWeekdays(): { value: (typeof weekdayNames)[number]; name: string }[] {
  const { i18n } = useTranslation();
  const { firstDayOfWeek } = useTimeSettings();
  return weekdaysFrom(firstDayOfWeek, i18n.language).flatMap(({ weekday, name }) => {
    const value = weekdayNames[weekday];
    return value ? { value, name } : [];
  });
}

/** The days of the week and the hours that are studied, as a text. */
export function useTimesText(): (times: Pick<SpeedChoice, 'weekdays' | 'hours'>) => string {
  const { t } = useTranslation('studies');
  const days = useWeekdays();
  return ({ weekdays, hours }) =>
    [
      weekdays
        ? days.flatMap(({ value, name }) => (weekdays.includes(value) ? name : [])).join(' ')
        : t('speed.allDays'),
      hours ? `\u2066${hours.replace('-', '–')}\u2069` : t('speed.allHours'),
    ].join(' · ');
}
