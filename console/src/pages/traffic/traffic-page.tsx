import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useToday } from '../../shared/range/range-picker.tsx';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/select.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Choices, intervalFor } from './choices.tsx';
import { chosenSubject, comparedWith, NO_PLACE, otherPlaceOf } from './comparison.ts';
import { PlaceView } from './place-view.tsx';
import { Start } from './start.tsx';
import { TrafficFrame } from './traffic-frame.tsx';
import { usePlaceTraffic } from './use-place-traffic.ts';

/** The traffic page: an overview of all locations, or the volume and speeds at one location or sensor. */
export function TrafficPage() {
  const today = useToday();
  return today === null ? <Skeleton rows={12} /> : <Traffic today={today} />;
}

function Traffic({ today }: { readonly today: string }) {
  const { t } = useTranslation('traffic');
  const search = useSearch({ from: '/shell/traffic' });
  const navigate = useNavigate({ from: '/traffic' });
  const change = (values: Readonly<Record<string, unknown>>) =>
    void navigate({ search: (all) => ({ ...all, ...values }) });
  const { place, days } = chosenSubject(search, today);
  const otherPlace = otherPlaceOf(search);
  const interval = search.interval ?? intervalFor(days);
  const subject = place && { place, days };
  const other = subject && comparedWith(subject, search);
  const options = { interval, vehicleType: search.vehicleType };
  const traffic = usePlaceTraffic(subject, options);
  const otherTraffic = usePlaceTraffic(other, { ...options, units: traffic.units });
  const shows = search.week ?? 'volume';
  const compareDays = {
    startDate: search.compareStart ?? days.startDate,
    endDate: search.compareEnd ?? days.endDate,
  };
  const choice = {
    ...{ days, interval, vehicleType: search.vehicleType },
    ...{ compare: search.compare, compareDays, otherPlace },
  };
  const commands = place && (
    <>
      <Select
        label={t('week.label')}
        hideLabel
        value={shows}
        options={[
          { value: 'volume', label: t('week.volume') },
          { value: 'speed', label: t('week.speed') },
        ]}
        onChange={(week) => change({ week: week === 'volume' ? undefined : week })}
      />
      <Button onClick={() => change({ ...NO_PLACE, compare: undefined })}>{t('place.all')}</Button>
    </>
  );
  const choices = place && <Choices choice={choice} today={today} onChange={change} />;
  return (
    <TrafficFrame {...{ today, place, days, commands, choices }} onChange={change}>
      {subject ? (
        <PlaceView {...{ subject, other, traffic, otherTraffic, shows, vehicleType: search.vehicleType }} />
      ) : (
        <Start
          days={days}
          by={search.by ?? 'volume'}
          onSort={(by) => change({ by })}
          onChoose={(locationId) => change({ locationId })}
        />
      )}
    </TrafficFrame>
  );
}
