import type { Event } from '@gantry/contract/events';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { FilterValues } from '../filters/filter.ts';
import { FilterBar } from '../filters/filter-bar.tsx';
import { api, service } from '../service/service.ts';
import { PageHeader } from '../shell/page-header.tsx';
import { DataTable } from '../table/data-table.tsx';
import { usePages } from '../table/pages.ts';
import { useCursor } from '../table/use-cursor.ts';
import { useSelection } from '../table/use-selection.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { useEventColumns } from './columns.tsx';
import { useEventFilters } from './use-filters.ts';

const keyOf = ({ id }: Event): string => id;

/** The list of events, and the details of one. */
export function EventsPage() {
  const { t, i18n } = useTranslation('events');
  const { event: openId, ...input } = useSearch({ from: '/shell/events' });
  const navigate = useNavigate({ from: '/events' });
  const change = (values: FilterValues) =>
    void navigate({ search: (all) => ({ ...all, ...values }), replace: true });
  const open = ({ id }: Event) => change({ event: id });
  const filters = useEventFilters();
  const columns = useEventColumns();
  const pages = usePages<Event>({
    queryKey: service.events.getAll.queryKey(input),
    load: async (page, signal) => {
      const { events, total } = await api.events.getAll.query({ ...input, ...page }, { signal });
      return { rows: events, total };
    },
    keyOf,
  });
  useCursor({ rows: pages.rows, keyOf, activeKey: openId, onMove: open });
  const selection = useSelection({ rows: pages.rows, keyOf, activeKey: openId });
  const isFiltered = filters.some(({ name }) => name in input);
  return (
    <>
      <PageHeader
        title={t('title')}
        note={
          pages.total !== null &&
          t('total', { count: pages.total, n: pages.total.toLocaleString(i18n.language) })
        }
      />
      <FilterBar filters={filters} values={input} onChange={change} />
      <DataTable
        label={t('title')}
        columns={columns}
        pages={pages}
        keyOf={keyOf}
        sort={{ by: input.sortBy ?? 'timestamp', order: input.sortOrder ?? 'desc' }}
        onSort={({ by, order }) => change({ sortBy: by, sortOrder: order })}
        activeKey={openId ?? null}
        onActivate={open}
        selected={selection.selected}
        onSelect={selection.toggle}
        empty={
          isFiltered ? (
            <Empty
              icon="filter"
              title={t('empty.noMatch')}
              action={<Button onClick={() => void navigate({ search: {} })}>{t('empty.clear')}</Button>}
            />
          ) : (
            <Empty icon="events" title={t('empty.first')}>
              {t('empty.firstText')}
            </Empty>
          )
        }
      />
    </>
  );
}
