import type { LiveTraffic, TrafficLevel } from '@gantry/contract/traffic';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useCellText } from '../../shared/chart/use-cell-text.ts';
import { service } from '../../shared/service/service.ts';
import { TrafficLevelBadge } from '../../shared/status/traffic-level.tsx';
import { type Column, DataTable } from '../../shared/table/data-table.tsx';
import { Moment } from '../../shared/time/moment.tsx';
import { Empty } from '../../ui/empty.tsx';
import { PlaceLink } from './place-link.tsx';

type Live = LiveTraffic['locations'][number];

/** The most congested first, and locations without data last. */
const levelOrder: readonly TrafficLevel[] = ['CONGESTED', 'BUSY', 'FREE', 'NO_DATA'];

/** The interval between refetches, in milliseconds. */
const EVERY_MS = 15_000;

/** The current level of traffic at every location, the most congested first. */
export function LiveTable({ onChoose }: { readonly onChoose: (locationId: string) => void }) {
  const { t } = useTranslation('traffic');
  const textOf = useCellText();
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
        width: '6rem',
        isFigure: true,
        wideOnly: true,
        cell: ({ volume }) => number(volume),
      },
      {
        id: 'speed',
        header: t('kmh'),
        width: '4rem',
        isFigure: true,
        cell: ({ meanSpeed }) => number(meanSpeed),
      },
      {
        id: 'usual',
        header: t('live.usual'),
        width: '5rem',
        isFigure: true,
        wideOnly: true,
        cell: ({ usualSpeed }) => number(usualSpeed),
      },
    ];
  }, [t, textOf]);
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
