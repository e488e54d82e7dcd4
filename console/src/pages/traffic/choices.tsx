import type { TrafficInterval } from '@gantry/contract/traffic';
import { MAX_POINTS, trafficIntervals } from '@gantry/contract/values';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { FilterField } from '../../shared/filters/filter-field.tsx';
import { LookUp } from '../../shared/form/look-up.tsx';
import { type DayRange, daysIn } from '../../shared/range/days.ts';
import { RangePicker } from '../../shared/range/range-picker.tsx';
import { api } from '../../shared/service/service.ts';
import { Select } from '../../ui/select.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import type { Comparison, Place } from './comparison.ts';
import { usePlaceName } from './place.tsx';
import { comparisons } from './search.ts';

/** The choices of the page, as read from the query parameters, with defaults for those that are absent. */
export interface Choice {
  readonly days: DayRange;
  readonly place: Place | null;
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

/** The bar in which the user chooses the place, the days, the interval, the vehicle type and the comparison. */
export function Choices({ choice, today, onChange }: ChoicesProps) {
  const { t } = useTranslation('traffic');
  const { days, place, interval, vehicleType, compare, compareDays, otherPlace } = choice;
  const places = useRef<HTMLDivElement>(null);
  useShortcuts([
    {
      keys: 'p',
      label: t('place.choose'),
      scope: 'page',
      run: () => places.current?.querySelector('input')?.select(),
    },
  ]);
  const intervals = trafficIntervals.filter(
    (each) => each === interval || perDay[each] * daysIn(days) <= MAX_POINTS,
  );
  return (
    <div className="flex flex-wrap items-end gap-x-3 gap-y-2 border-b px-4 py-2">
      <div ref={places} className="w-64 max-w-full max-sm:w-full">
        <PlaceLookUp
          label={t('place.label')}
          place={place}
          onChoose={(chosen) => onChange({ locationId: undefined, sensorId: undefined, ...chosen })}
        />
      </div>
      <RangePicker range={days} today={today} onChange={(range) => onChange({ ...range })} />
      {place && (
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
                  withLocationId: 'locationId' in chosen ? chosen.locationId : undefined,
                  withSensorId: 'sensorId' in chosen ? chosen.sensorId : undefined,
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
                onChange={({ startDate, endDate }) =>
                  onChange({ compareStart: startDate, compareEnd: endDate })
                }
              />
            </fieldset>
          )}
        </>
      )}
    </div>
  );
}

interface PlaceLookUpProps {
  readonly label: string;
  readonly place: Place | null;
  readonly onChoose: (place: Place) => void;
}

/** The maximum number of locations, and of sensors, that are offered at once. */
const TAKE = 20;

/** A field that finds a location or a sensor by part of its name. */
function PlaceLookUp({ label, place, onChoose }: PlaceLookUpProps) {
  const { t } = useTranslation('traffic');
  const name = usePlaceName(place);
  const find = async (search: string) => {
    const page = { search, take: TAKE, sortBy: 'name', sortOrder: 'asc' } as const;
    // The request for locations fails if the feature is switched off; sensors are always available.
    const [locations, sensors] = await Promise.all([
      api.locations.getAll.query({ search, take: TAKE }).then(
        (all) => all.locations,
        () => [],
      ),
      api.sensors.getAll.query(page).then((all) => all.sensors),
    ]);
    return [
      ...locations.map((one) => ({ value: `locationId ${one.id}`, label: one.name })),
      ...sensors.map((one) => ({
        value: `sensorId ${one.id}`,
        label: t('place.sensor', { name: one.name }),
      })),
    ];
  };
  const choose = (value: string) => {
    const [kind, id = ''] = value.split(' ');
    onChoose(kind === 'locationId' ? { locationId: id } : { sensorId: id });
  };
  return <LookUp key={name} label={label} find={find} onChoose={choose} chosen={name} />;
}
