import type { LiveTraffic, TopLocations, TopLocationsInput, TrafficLevel } from '@gantry/contract/traffic';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { GAP, useCellText } from '../../shared/chart/use-cell-text.ts';
import { type DayRange, daysIn } from '../../shared/range/days.ts';
import { service } from '../../shared/service/service.ts';
import { TrafficLevelBadge } from '../../shared/status/badges.tsx';
import { useSpeedText } from '../../shared/status/speed.ts';
import { type Column, DataTable } from '../../shared/table/data-table.tsx';
import { Moment } from '../../shared/time/moment.tsx';
import { Empty } from '../../ui/empty.tsx';
import { PlaceLink } from './place.tsx';

interface StartProps {
  readonly days: DayRange;
  readonly by: NonNullable<TopLocationsInput['by']>;
  readonly onSort: (by: NonNullable<TopLocationsInput['by']>) => void;
  readonly onChoose: (locationId: string) => void;
}

/** The overview shown until a place is chosen: the current levels of traffic, and the top locations of the range. */
export function Start({ days, by, onSort, onChoose }: StartProps) {
  return (
    <div className="grid gap-3 px-4 py-3 xl:grid-cols-2">
      <LiveTable onChoose={onChoose} />
      <TopTable days={days} by={by} onSort={onSort} onChoose={onChoose} />
    </div>
  );
}

type Live = LiveTraffic['locations'][number];

/** The most congested first, and locations without data last. */
const levelOrder: readonly TrafficLevel[] = ['CONGESTED', 'BUSY', 'FREE', 'NO_DATA'];

/** The interval between refetches, in milliseconds. */
const EVERY_MS = 15_000;

/** The current level of traffic at every location, the most congested first. */
function LiveTable({ onChoose }: { readonly onChoose: (locationId: string) => void }) {
  const { t } = useTranslation('traffic');
  const textOf = useCellText();
  const speedText = useSpeedText();
  const query = useQuery({ ...service.traffic.getLive.queryOptions(), refetchInterval: EVERY_MS });
  const rows = useMemo(
    () =>
      (query.data?.locations ?? []).toSorted(
        (a, b) =>
          levelOrder.indexOf(a.level) - levelOrder.indexOf(b.level) || (b.volume ?? 0) - (a.volume ?? 0),
      ),
    [query.data],
  );
  const columns = useMemo<readonly Column<Live>[]>(() => {
    const number = (value: number | null) => textOf(value, { header: '', kind: 'number' });
    const speed = (value: number | null, units: Live['units']) =>
      value === null ? GAP : speedText(value, 0, units);
    return [
      {
        id: 'name',
        header: t('place.location'),
        cell: ({ locationId, locationName }) => <PlaceLink id={locationId} name={locationName} />,
      },
      {
        id: 'level',
        header: t('live.level'),
        width: '7.5rem',
        cell: ({ level, volume }) => <TrafficLevelBadge level={level} volume={volume} />,
      },
      {
        id: 'volume',
        header: t('figures.volume'),
        width: '7.5rem',
        isFigure: true,
        wideOnly: true,
        cell: ({ volume }) => number(volume),
      },
      {
        id: 'speed',
        header: t('figures.meanSpeed'),
        width: 'min(7.5rem, 25cqi)',
        isFigure: true,
        cell: ({ meanSpeed, units }) => speed(meanSpeed, units),
      },
      {
        id: 'usual',
        header: t('live.usual'),
        width: '5rem',
        isFigure: true,
        wideOnly: true,
        cell: ({ usualSpeed, units }) => speed(usualSpeed, units),
      },
    ];
  }, [t, textOf, speedText]);
  return (
    <section className="flex h-[calc(100dvh-11.5rem)] min-h-96 min-w-0 flex-col overflow-hidden rounded-md border bg-surface">
      <header className="flex flex-wrap items-baseline gap-x-3 px-4 py-2">
        <h2 className="font-semibold">{t('live.title')}</h2>
        {query.data && (
          <p className="text-sm text-muted">
            {t('live.since')} <Moment at={query.data.since} as="time" />
          </p>
        )}
      </header>
      <DataTable
        label={t('live.title')}
        columns={columns}
        pages={{ ...query, rows, total: rows.length, refetch: () => void query.refetch() }}
        keyOf={({ locationId }) => locationId}
        onActivate={({ locationId }) => onChoose(locationId)}
        empty={
          <Empty icon="location" title={t('empty.locations')}>
            {t('empty.locationsText')}
          </Empty>
        }
      />
    </section>
  );
}

type Top = TopLocations['locations'][number];
type By = NonNullable<TopLocationsInput['by']>;

interface TopTableProps {
  readonly days: DayRange;
  readonly by: By;
  readonly onSort: (by: By) => void;
  readonly onChoose: (locationId: string) => void;
}

/** The maximum number of locations in a response. */
const LIMIT = 100;

/** The locations with the most traffic, the highest mean speed, or the largest share over the limit. */
function TopTable({ days, by, onSort, onChoose }: TopTableProps) {
  const { t } = useTranslation('traffic');
  const textOf = useCellText();
  const speedText = useSpeedText();
  const query = useQuery({
    ...service.traffic.getTopLocations.queryOptions({ ...days, by, limit: LIMIT }),
    placeholderData: keepPreviousData,
  });
  const rows = query.data?.locations ?? [];
  const columns = useMemo<readonly Column<Top>[]>(() => {
    const figure = { isFigure: true, width: 'min(7rem, 24cqi)' } as const;
    return [
      {
        id: 'name',
        header: t('place.location'),
        cell: ({ locationId, locationName }) => <PlaceLink id={locationId} name={locationName} />,
      },
      {
        ...figure,
        id: 'volume',
        header: t('figures.volume'),
        sortBy: 'volume',
        cell: ({ volume }) => textOf(volume, { header: '', kind: 'number' }),
      },
      {
        ...figure,
        id: 'speed',
        header: t('figures.meanSpeed'),
        sortBy: 'meanSpeed',
        wideOnly: true,
        cell: ({ meanSpeed, units }) => (meanSpeed === null ? GAP : speedText(meanSpeed, 1, units)),
      },
      {
        ...figure,
        id: 'share',
        header: t('top.over'),
        sortBy: 'shareOverLimit',
        cell: ({ shareOverLimit }) => textOf(shareOverLimit, { header: '', kind: 'share' }),
      },
      {
        ...figure,
        id: 'limit',
        header: t('figures.limit'),
        width: '7rem',
        wideOnly: true,
        cell: ({ speedLimit, units }) => (speedLimit === null ? GAP : speedText(speedLimit, 1, units)),
      },
    ];
  }, [t, textOf, speedText]);
  return (
    <section className="flex h-[calc(100dvh-11.5rem)] min-h-96 min-w-0 flex-col overflow-hidden rounded-md border bg-surface">
      <header className="flex flex-wrap items-baseline gap-x-3 px-4 py-2">
        <h2 className="font-semibold">{t('top.title')}</h2>
        <p className="figures text-sm text-muted">{t('top.days', { count: daysIn(days) })}</p>
      </header>
      <DataTable
        label={t('top.title')}
        columns={columns}
        pages={{ ...query, rows, total: rows.length, refetch: () => void query.refetch() }}
        keyOf={({ locationId }) => locationId}
        sort={{ by, order: 'desc' }}
        onSort={(sort) => onSort(sort.by as By)}
        onActivate={({ locationId }) => onChoose(locationId)}
        empty={
          <Empty icon="traffic" title={t('empty.none')}>
            {t('empty.noneText')}
          </Empty>
        }
      />
    </section>
  );
}
