import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CardFrame } from '../../../../shared/chart/card-frame.tsx';
import { useZoneOfDays } from '../../../../shared/chart/use-zone-note.ts';
import { type DayRange, daysIn, plusDays } from '../../../../shared/range/days.ts';
import { service } from '../../../../shared/service/service.ts';
import { useServiceTime } from '../../../../shared/time/use-time.ts';
import { Button } from '../../../../ui/button.tsx';
import { NO_PLACE } from '../../comparison.ts';
import { DayMap, SignLegend } from './day-map.tsx';
import { OutagesCard } from './outages-card.tsx';
import { DecisionsCard } from './review.tsx';
import { useDayTable } from './tables.ts';

/** The most decisions that are listed at once. */
const DECISIONS = 50;

interface NetworkQualityProps {
  readonly days: DayRange;
  readonly onChange: (change: Readonly<Record<string, unknown>>) => void;
}

/** What does not work now, the days of the locations, and the latest decisions about any place. */
export function NetworkQuality({ days, onChange }: NetworkQualityProps) {
  const { t } = useTranslation('studies');
  const decisions = useQuery(service.traffic.getDataReviews.queryOptions({ take: DECISIONS }));
  return (
    <div className="flex flex-col gap-3 px-4 py-3">
      <OutagesCard place={null} days={days} />
      <LocationsCard {...{ days, onChange }} />
      {decisions.data && (
        <DecisionsCard
          title={t('quality.latestDecisions')}
          place={null}
          days={days}
          reviews={decisions.data.reviews}
        />
      )}
    </div>
  );
}

/** How many locations are shown at first, and with each "more". */
const STEP = 10;

/** The days of the locations, in the order of their names. The client asks for all of them in one request. */
function LocationsCard({ days, onChange }: NetworkQualityProps) {
  const { t } = useTranslation('studies');
  const time = useServiceTime();
  const [take, setTake] = useState(STEP);
  const locations = useQuery({
    ...service.locations.getAll.queryOptions({ take, sortBy: 'name', sortOrder: 'asc' }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    // The feature may be switched off.
    retry: false,
  });
  const all = locations.data?.locations ?? [];
  const qualities = useQueries({
    queries: all.map(({ id }) => ({
      ...service.traffic.getDataQuality.queryOptions({ locationId: id, ...days }),
      staleTime: 60_000,
    })),
  });
  const known = all.map(({ id, name }, at) => ({ id, name, days: qualities[at]?.data?.days }));
  const dates =
    known.find((each) => each.days)?.days?.map(({ date }) => date) ??
    Array.from({ length: daysIn(days) }, (_, n) => plusDays(days.startDate, n));
  const zone = useZoneOfDays(days);
  const table = useDayTable(known.map(({ name, days: of }) => ({ name, days: of ?? [] })));
  const title = t('quality.days', { days: `\u2068${time.days(days)}\u2069` });
  if (all.length === 0) return null;
  return (
    <CardFrame
      {...{ title, table, zone }}
      subject={t('quality.network')}
      n={t('quality.nLocations', { count: all.length })}
    >
      <DayMap
        label={title}
        days={dates}
        rows={known.map(({ id, name, days: of }) => ({
          key: id,
          name: (
            <Link to="/traffic/quality" search={{ locationId: id, ...days }} className="hover:underline">
              <bdi>{name}</bdi>
            </Link>
          ),
          days: of,
        }))}
        day={null}
        onChoose={({ key }, day) => onChange({ ...NO_PLACE, locationId: key, day })}
      />
      {locations.data && locations.data.total > all.length && (
        <Button className="self-start" onClick={() => setTake(take + STEP)}>
          {t('quality.moreLocations', { count: locations.data.total - all.length })}
        </Button>
      )}
      <SignLegend />
    </CardFrame>
  );
}
