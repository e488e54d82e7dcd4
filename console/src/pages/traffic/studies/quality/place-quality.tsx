import type { DataQualityOfPlace, Severity } from '@gantry/contract/quality';
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { CardFrame } from '../../../../shared/chart/card-frame.tsx';
import { useZoneOfDays } from '../../../../shared/chart/use-zone-note.ts';
import type { DayRange } from '../../../../shared/range/days.ts';
import { service } from '../../../../shared/service/service.ts';
import { useServiceTime } from '../../../../shared/time/use-time.ts';
import type { Place } from '../../comparison.ts';
import { usePlaceName } from '../../place.tsx';
import { Loaded } from '../states.tsx';
import { DayMap, type DayMapRow, SignLegend } from './day-map.tsx';
import { FlagsCard } from './flags-card.tsx';
import { OutagesCard } from './outages-card.tsx';
import { DecisionsCard } from './review.tsx';
import { useDayTable } from './tables.ts';

/** The most sensors of a location that have a line of their own. */
const MAX_SENSORS = 12;

interface PlaceQualityProps {
  readonly place: Place;
  readonly days: DayRange;
  readonly severity: Severity | undefined;
  /** The day whose flags are shown; null for all. */
  readonly day: string | null;
  readonly onChange: (change: Readonly<Record<string, unknown>>) => void;
}

/** The quality of the data of a place: its days, what rules found, decisions, and outages. */
export function PlaceQuality({ place, days, severity, day, onChange }: PlaceQualityProps) {
  const { t } = useTranslation('studies');
  const query = useQuery({
    ...service.traffic.getDataQuality.queryOptions({ ...place, ...days }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  return (
    <Loaded queries={[query]}>
      {() =>
        query.data && (
          <>
            <DaysCard {...{ place, days, day, onChange }} quality={query.data} />
            <FlagsCard {...{ place, days, severity, day, onChange }} quality={query.data} />
            <OutagesCard place={place} days={days} />
            <DecisionsCard
              title={t('quality.decisionsOf')}
              {...{ place, days }}
              reviews={query.data.reviews}
            />
          </>
        )
      }
    </Loaded>
  );
}

interface DaysCardProps extends Pick<PlaceQualityProps, 'place' | 'days' | 'day' | 'onChange'> {
  readonly quality: DataQualityOfPlace;
}

/** The days of the place and, at a location, of each of its sensors. */
function DaysCard({ place, days, day, quality, onChange }: DaysCardProps) {
  const { t } = useTranslation('studies');
  const time = useServiceTime();
  const name = usePlaceName(place);
  const locationId = 'locationId' in place ? place.locationId : '';
  const sensors = useQuery({
    ...service.sensors.getAll.queryOptions({
      locationId,
      take: MAX_SENSORS,
      sortBy: 'name',
      sortOrder: 'asc',
    }),
    enabled: locationId !== '',
    staleTime: 60_000,
  });
  const all = (locationId && sensors.data?.sensors) || [];
  const ofSensors = useQueries({
    queries: all.map(({ id }) => ({
      ...service.traffic.getDataQuality.queryOptions({ sensorId: id, ...days }),
      staleTime: 60_000,
    })),
  });
  const rows: DayMapRow[] = [
    { key: 'place', name: <bdi>{name}</bdi>, days: quality.days },
    ...all.map((sensor, at) => ({
      key: sensor.id,
      name: <bdi>{sensor.name}</bdi>,
      days: ofSensors[at]?.data?.days,
    })),
  ];
  const title = t('quality.days', { days: `\u2068${time.days(days)}\u2069` });
  const table = useDayTable([
    { name, days: quality.days },
    ...all.map((sensor, at) => ({ name: sensor.name, days: ofSensors[at]?.data?.days ?? [] })),
  ]);
  const zone = useZoneOfDays(days);
  return (
    <CardFrame {...{ title, table, zone }} subject={name} n={t('nDays', { count: quality.days.length })}>
      <DayMap
        label={`${title}, ${name}`}
        days={quality.days.map(({ date }) => date)}
        rows={rows}
        day={day}
        onChoose={(row, chosen) =>
          onChange(row.key === 'place' ? { day: chosen === day ? undefined : chosen } : { day: chosen })
        }
      />
      <SignLegend />
    </CardFrame>
  );
}
