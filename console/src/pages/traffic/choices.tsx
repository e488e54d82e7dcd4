import type { TrafficInterval } from '@gantry/contract/traffic';
import { MAX_POINTS, trafficIntervals } from '@gantry/contract/values';
import { useTranslation } from 'react-i18next';
import { FilterField } from '../../shared/filters/filter-field.tsx';
import { type DayRange, daysIn } from '../../shared/range/days.ts';
import { RangePicker } from '../../shared/range/range-picker.tsx';
import { Select } from '../../ui/select.tsx';
import { type Comparison, idsOf, type Place } from './comparison.ts';
import { PlaceLookUp } from './place.tsx';
import { comparisons } from './search.ts';

/** The choices of the page, as read from the query parameters, with defaults for those that are absent. */
export interface Choice {
  readonly days: DayRange;
  readonly interval: TrafficInterval;
  readonly vehicleType: string | undefined;
  readonly compare: Comparison | undefined;
  readonly compareDays: DayRange;
  readonly otherPlace: Place | null;
}

interface ChoicesProps {
  readonly choice: Choice;
  readonly today: string;
  readonly onChange: (change: Readonly<Record<string, unknown>>) => void;
}

const perDay: Readonly<Record<TrafficInterval, number>> = { '5min': 288, '15min': 96, '60min': 24, day: 1 };

/** The default interval for a range: the finest at which a chart of that length is still readable. */
export function intervalFor(days: DayRange): TrafficInterval {
  const count = daysIn(days);
  if (count <= 2) return '15min';
  return count <= 14 ? '60min' : 'day';
}

/** The fields in which the user chooses the interval, the vehicle type and the comparison of a place. */
export function Choices({ choice, today, onChange }: ChoicesProps) {
  const { t } = useTranslation('traffic');
  const { days, interval, vehicleType, compare, compareDays, otherPlace } = choice;
  const intervals = trafficIntervals.filter(
    (each) => each === interval || perDay[each] * daysIn(days) <= MAX_POINTS,
  );
  return (
    <>
      <Select
        label={t('interval.label')}
        value={interval}
        options={intervals.map((value) => ({ value, label: t(`interval.${value}`) }))}
        onChange={(value) => onChange({ interval: value })}
      />
      <div className="w-32">
        <FilterField
          filter={{ kind: 'text', name: 'vehicleType', label: t('types.type') }}
          value={vehicleType}
          onChange={(value) => onChange({ vehicleType: value })}
        />
      </div>
      <Select
        label={t('comparison.label')}
        value={compare ?? ''}
        options={[
          { value: '', label: t('comparison.none') },
          ...comparisons.map((value) => ({ value: value as string, label: t(`comparison.${value}`) })),
        ]}
        onChange={(value) => onChange({ compare: value || undefined })}
      />
      {compare === 'place' && (
        <PlaceLookUp
          label={t('comparison.withPlace')}
          place={otherPlace}
          onChoose={(chosen) =>
            onChange({
              withLocationId: idsOf(chosen).locationId,
              withPointId: idsOf(chosen).pointId,
              withSensorId: idsOf(chosen).sensorId,
            })
          }
        />
      )}
      {compare === 'days' && (
        <fieldset className="contents">
          <legend className="sr-only">{t('comparison.withDays')}</legend>
          <RangePicker
            range={compareDays}
            today={today}
            label={t('comparison.withDays')}
            onChange={({ startDate, endDate }) => onChange({ compareStart: startDate, compareEnd: endDate })}
          />
        </fieldset>
      )}
    </>
  );
}
