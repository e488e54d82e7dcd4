import type { DeviceMessage } from '@gantry/contract/connections';
import { messageStatuses } from '@gantry/contract/values';
import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter } from '../../../shared/filters/filter.ts';
import { FilterBar } from '../../../shared/filters/filter-bar.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { figureColumn, textColumn, timeColumn } from '../../../shared/table/column.tsx';
import { type Column, DataTable } from '../../../shared/table/data-table.tsx';
import { usePages } from '../../../shared/table/pages.ts';
import { columnsBeside, ListAndPane } from '../../../shared/table/side-pane.tsx';
import { useCursor } from '../../../shared/table/use-cursor.ts';
import { usePane } from '../../../shared/url/use-pane.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { MessagePane } from './message-pane.tsx';
import { MessageStatusBadge } from './message-status.tsx';

const keyOf = ({ id }: DeviceMessage): string => id;

/** Refetch interval, in milliseconds. */
const AGAIN_MS = 3_000;

/** The messages of a connection, the newest first. */
export function Messages({ connectionId }: { readonly connectionId: string }) {
  const { t } = useTranslation('connections');
  const { message: openId, ...filter } = useSearch({
    from: '/shell/sensors/$sensorId/connections/$connectionId',
  });
  const { change, open, close } = usePane('/sensors/$sensorId/connections/$connectionId', 'message', openId);
  const input = { connectionId, ...(filter.status && { status: filter.status }) };
  const filters = useStatusFilter();
  const columns = useMessageColumns();
  const pages = usePages({
    queryKey: service.connections.getMessages.queryKey(input),
    load: (page, signal) => api.connections.getMessages.query({ ...input, ...page }, { signal }),
    rows: 'messages',
    keyOf,
    everyMs: AGAIN_MS,
  });
  useCursor({ rows: pages.rows, keyOf, activeKey: openId, onMove: open });
  return (
    <>
      <FilterBar filters={filters} values={filter} onChange={change}>
        {pages.total !== null && (
          <span className="figures text-muted">{t('messages.total', { count: pages.total })}</span>
        )}
      </FilterBar>
      <ListAndPane
        list={
          <DataTable
            label={t('messages.title')}
            columns={columnsBeside(columns, openId !== undefined, ['bytes'])}
            pages={pages}
            keyOf={keyOf}
            activeKey={openId ?? null}
            onActivate={open}
            empty={
              filter.status ? (
                <Empty
                  icon="filter"
                  title={t('messages.noMatch')}
                  action={
                    <Button onClick={() => change({ status: undefined })}>{t('messages.clear')}</Button>
                  }
                />
              ) : (
                <Empty icon="send" title={t('messages.none')}>
                  {t('messages.noneText')}
                </Empty>
              )
            }
          />
        }
        pane={openId && <MessagePane key={openId} id={openId} onClose={close} />}
      />
    </>
  );
}

function useStatusFilter(): readonly Filter[] {
  const { t } = useTranslation('connections');
  return useMemo(
    () => [
      {
        kind: 'choice',
        name: 'status',
        label: t('messages.status'),
        options: messageStatuses.map((value) => ({ value, label: t(`statuses.${value}`) })),
      },
    ],
    [t],
  );
}

function useMessageColumns(): readonly Column<DeviceMessage>[] {
  const { t } = useTranslation('connections');
  return useMemo(
    () => [
      timeColumn('receivedAt', t('messages.receivedAt'), ({ receivedAt }) => receivedAt),
      {
        id: 'status',
        header: t('messages.status'),
        width: '10rem',
        cell: ({ status }) => <MessageStatusBadge status={status} />,
      },
      textColumn('reason', t('messages.reason'), ({ reason }) => reason, { notNarrow: true }),
      figureColumn('events', t('messages.events'), ({ eventIds }) => eventIds.length, {
        width: '6rem',
        notNarrow: true,
      }),
      figureColumn('bytes', t('messages.bytes'), ({ bytes }) => bytes, { width: '7rem', notNarrow: true }),
    ],
    [t],
  );
}
