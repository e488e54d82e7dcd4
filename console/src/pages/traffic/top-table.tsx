import type { TopLocations, TopLocationsInput } from '@gantry/contract/traffic';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useCellText } from '../../shared/chart/use-cell-text.ts';
import { type DayRange, daysIn } from '../../shared/range/days.ts';
import { service } from '../../shared/service/service.ts';
import { type Column, DataTable } from '../../shared/table/data-table.tsx';
import { Empty } from '../../ui/empty.tsx';
import { PlaceLink } from './place-link.tsx';

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
export function TopTable({ days, by, onSort, onChoose }: TopTableProps) {
  const { t } = useTranslation('traffic');
  const textOf = useCellText();
  const query = useQuery({
    ...service.traffic.getTopLocations.queryOptions({ ...days, by, limit: LIMIT }),
    placeholderData: keepPreviousData,
  });
  const rows = query.data?.locations ?? [];
  const columns = useMemo<readonly Column<Top>[]>(() => {
    const figure = { isFigure: true, width: '5.5rem' } as const;
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
        header: t('kmh'),
        sortBy: 'meanSpeed',
        wideOnly: true,
        cell: ({ meanSpeed }) => textOf(meanSpeed, { header: '', kind: 'number', digits: 1 }),
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
        cell: ({ speedLimit }) => textOf(speedLimit, { header: '', kind: 'number' }),
      },
    ];
  }, [t, textOf]);
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
