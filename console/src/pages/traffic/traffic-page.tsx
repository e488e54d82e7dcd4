import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../shared/notices/copy-button.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { rangeOfPreset } from '../../shared/range/days.ts';
import { useToday } from '../../shared/range/range-picker.tsx';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/select.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Choices, intervalFor } from './choices.tsx';
import { comparedWith, placeOf } from './comparison.ts';
import { usePlaceName } from './place.tsx';
import { PlaceView } from './place-view.tsx';
import { Start } from './start.tsx';
import { usePlaceTraffic } from './use-place-traffic.ts';

/** The traffic page: an overview of all locations, or the volume and speeds at one location or sensor. */
export function TrafficPage() {
  const today = useToday();
  return today === null ? <Skeleton rows={12} /> : <Traffic today={today} />;
}

function Traffic({ today }: { readonly today: string }) {
  const { t } = useTranslation('traffic');
  const { t: common } = useTranslation('common');
  const search = useSearch({ from: '/shell/traffic' });
  const navigate = useNavigate({ from: '/traffic' });
  const change = (values: Readonly<Record<string, unknown>>) =>
    void navigate({ search: (all) => ({ ...all, ...values }) });
  const usual = rangeOfPreset('last7', today);
  const { startDate = search.endDate ?? usual.startDate, endDate = search.startDate ?? usual.endDate } =
    search;
  const days = startDate <= endDate ? { startDate, endDate } : { startDate: endDate, endDate: startDate };
  const place = placeOf(search.locationId, search.sensorId);
  const otherPlace = placeOf(search.withLocationId, search.withSensorId);
  const interval = search.interval ?? intervalFor(days);
  const subject = place && { place, days };
  const other = subject && comparedWith(subject, search);
  const options = { interval, vehicleType: search.vehicleType };
  const traffic = usePlaceTraffic(subject, options);
  const otherTraffic = usePlaceTraffic(other, options);
  const name = usePlaceName(place);
  const shows = search.week ?? 'volume';
  const compareDays = {
    startDate: search.compareStart ?? days.startDate,
    endDate: search.compareEnd ?? days.endDate,
  };
  const choice = {
    ...{ days, place, interval, vehicleType: search.vehicleType },
    ...{ compare: search.compare, compareDays, otherPlace },
  };
  return (
    <>
      <PageHeader
        title={t('title')}
        subject={place && name}
        note={place && <bdi className="line-clamp-1">{name}</bdi>}
      >
        {place && (
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
            <CopyButton
              label={common('filters.copyLink')}
              iconOnly
              text={() => Promise.resolve(location.href)}
            />
            <Button
              onClick={() => change({ locationId: undefined, sensorId: undefined, compare: undefined })}
            >
              {t('place.all')}
            </Button>
          </>
        )}
      </PageHeader>
      <div className="min-h-0 grow overflow-y-auto">
        <Choices choice={choice} today={today} onChange={change} />
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
      </div>
    </>
  );
}
