import type { Delivery, Webhook } from '@gantry/contract/webhooks';
import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter } from '../../../shared/filters/filter.ts';
import { FilterBar } from '../../../shared/filters/filter-bar.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { figureColumn, nameColumn, timeColumn } from '../../../shared/table/column.tsx';
import { type Column, DataTable } from '../../../shared/table/data-table.tsx';
import { ExportButton } from '../../../shared/table/export-button.tsx';
import { useOpened } from '../../../shared/table/opened.tsx';
import { usePages } from '../../../shared/table/pages.ts';
import { columnsBeside, ListAndPane, NotOpenedPane } from '../../../shared/table/side-pane.tsx';
import { useCursor } from '../../../shared/table/use-cursor.ts';
import { usePane } from '../../../shared/url/use-pane.ts';
import { Empty, NoMatch } from '../../../ui/empty.tsx';
import { StateBadge } from '../state-badge.tsx';
import { DeliveryPane } from './delivery-pane.tsx';
import { deliveryState, useKindName, webhookKinds } from './kinds.ts';

const keyOf = ({ id }: Delivery): string => id;

function useDeliveryFilters(): readonly Filter[] {
  const { t } = useTranslation('administration');
  const kindName = useKindName();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `kindName` changes only with the language
  return useMemo(
    () => [
      {
        kind: 'choice',
        name: 'status',
        label: t('deliveries.status'),
        options: (['PENDING', 'DELIVERED', 'DEAD'] as const).map((value) => ({
          value,
          label: t(`deliveryStatus.${value}`),
        })),
      },
      {
        kind: 'choice',
        name: 'kind',
        label: t('deliveries.kind'),
        options: [...webhookKinds, 'test' as const].map((value) => ({ value, label: kindName(value) })),
      },
    ],
    [t],
  );
}

/** The deliveries of a webhook, finished and pending, with the details of the selected one. */
export function Deliveries({ webhook }: { readonly webhook: Webhook }) {
  const { t } = useTranslation('administration');
  const { delivery: openId, ...filter } = useSearch({ from: '/shell/administration/webhooks/$webhookId' });
  const { change, open, close, clear } = usePane('/administration/webhooks/$webhookId', 'delivery', openId);
  const input = { ...filter, webhookId: webhook.id };
  const filters = useDeliveryFilters();
  const columns = useDeliveryColumns();
  const pages = usePages({
    queryKey: service.webhooks.getDeliveries.queryKey(input),
    load: (page, signal) => api.webhooks.getDeliveries.query({ ...input, ...page }, { signal }),
    rows: 'deliveries',
    keyOf,
    isUnderWay: ({ status }) => status === 'PENDING',
  });
  const { active: listed } = useCursor({ rows: pages.rows, keyOf, activeKey: openId, onMove: open });
  const opened = useOpened<Delivery>({
    id: openId,
    listed,
    isPending: pages.isPending,
    queryKey: service.webhooks.getDelivery.queryKey({ id: openId ?? '' }),
    load: (id) => api.webhooks.getDelivery.query({ id }),
  });
  const active = opened.row;
  return (
    <>
      <FilterBar filters={filters} values={filter} onChange={change}>
        {pages.total !== null && (
          <span className="figures text-muted">{t('deliveries.total', { count: pages.total })}</span>
        )}
        <ExportButton title={t('deliveries.title')} {...{ columns, pages, filters, values: filter }} />
      </FilterBar>
      <ListAndPane
        list={
          <DataTable
            label={t('deliveries.title')}
            columns={columnsBeside(columns, active !== undefined, ['attempts', 'due'])}
            pages={pages}
            keyOf={keyOf}
            sort={{ by: 'createdAt', order: filter.sortOrder ?? 'desc' }}
            onSort={({ order }) => change({ sortOrder: order })}
            activeKey={openId ?? null}
            onActivate={open}
            empty={
              filter.status || filter.kind ? (
                <NoMatch title={t('deliveries.noMatch')} onClear={clear} />
              ) : (
                <Empty icon="send" title={t('deliveries.none')}>
                  {t('deliveries.noneText')}
                </Empty>
              )
            }
          />
        }
        pane={
          active ? (
            <DeliveryPane key={active.id} delivery={active} onClose={close} />
          ) : (
            <NotOpenedPane label={t('deliveries.details')} opened={opened} onClose={close} />
          )
        }
      />
    </>
  );
}

function useDeliveryColumns(): readonly Column<Delivery>[] {
  const { t, i18n } = useTranslation('administration');
  const kindName = useKindName();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `kindName` changes only with the language
  return useMemo(
    () => [
      timeColumn('createdAt', t('deliveries.createdAt'), ({ createdAt }) => createdAt, {
        sortBy: 'createdAt',
      }),
      nameColumn('kind', t('deliveries.kind'), ({ kind }) => kindName(kind)),
      {
        id: 'status',
        header: t('deliveries.status'),
        width: '9rem',
        csv: ({ status, lastError }) => t(deliveryState(status, lastError !== null)),
        cell: ({ status, lastError }) => <StateBadge state={deliveryState(status, lastError !== null)} />,
      },
      figureColumn('attempts', t('deliveries.attempts'), ({ attempts }) => attempts, {
        width: '6rem',
        wideOnly: true,
      }),
      {
        id: 'answer',
        header: t('deliveries.answer'),
        wideOnly: true,
        csv: ({ lastStatus, lastError }) => lastError ?? (lastStatus === null ? null : `HTTP ${lastStatus}`),
        cell: ({ lastStatus, lastError }) => (
          <bdi className="text-muted">{lastError ?? (lastStatus !== null && `HTTP ${lastStatus}`)}</bdi>
        ),
      },
      timeColumn('due', t('deliveries.due'), ({ dueAt }) => dueAt, {
        width: '9rem',
        wideOnly: true,
        as: 'ago',
      }),
    ],
    [t, i18n.language],
  );
}
