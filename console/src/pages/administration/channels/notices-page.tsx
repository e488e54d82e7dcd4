import type { Notice } from '@gantry/contract/notices';
import { useMutation } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter } from '../../../shared/filters/filter.ts';
import { FilterBar } from '../../../shared/filters/filter-bar.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { nameColumn, textColumn, timeColumn } from '../../../shared/table/column.tsx';
import { type Column, DataTable } from '../../../shared/table/data-table.tsx';
import { ExportButton } from '../../../shared/table/export-button.tsx';
import { useOpened } from '../../../shared/table/opened.tsx';
import { usePages } from '../../../shared/table/pages.ts';
import { columnsBeside, ListAndPane, NotOpenedPane, SidePane } from '../../../shared/table/side-pane.tsx';
import { useCursor } from '../../../shared/table/use-cursor.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { usePane } from '../../../shared/url/use-pane.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty, NoMatch } from '../../../ui/empty.tsx';
import { Facts } from '../../../ui/panel.tsx';
import { StateBadge } from '../state-badge.tsx';
import { refreshChannels } from './channel-dialog.tsx';

const keyOf = ({ id }: Notice): string => id;

const noticeStatuses = ['PENDING', 'SENT', 'FAILED', 'DROPPED'] as const;
const noticeKinds = [
  'FIRST',
  'CHANGED',
  'REPEAT',
  'ESCALATED',
  'CLEARED',
  'SUMMARY',
  'TEST',
  'PLAN',
] as const;

function useNoticeFilters(): readonly Filter[] {
  const { t } = useTranslation('administration');
  return useMemo(
    () => [
      {
        kind: 'choice',
        name: 'status',
        label: t('deliveries.status'),
        options: noticeStatuses.map((value) => ({ value, label: t(`noticeStatus.${value}`) })),
      },
      {
        kind: 'choice',
        name: 'kind',
        label: t('deliveries.kind'),
        options: noticeKinds.map((value) => ({ value, label: t(`noticeKinds.${value}`) })),
      },
    ],
    [t],
  );
}

/** The messages about alarms, with the details of the selected one. */
export function NoticesPage() {
  const { t } = useTranslation('administration');
  const { notice: openId, ...filter } = useSearch({ from: '/shell/administration/notices' });
  const { change, open, close, clear } = usePane('/administration/notices', 'notice', openId);
  const filters = useNoticeFilters();
  const columns = useNoticeColumns();
  const pages = usePages({
    queryKey: service.notices.getAll.queryKey(filter),
    load: (page, signal) => api.notices.getAll.query({ ...filter, ...page }, { signal }),
    rows: 'notices',
    keyOf,
    isUnderWay: ({ status }) => status === 'PENDING',
  });
  const { active: listed } = useCursor({ rows: pages.rows, keyOf, activeKey: openId, onMove: open });
  const opened = useOpened<Notice>({
    id: openId,
    listed,
    isPending: pages.isPending,
    queryKey: service.notices.getById.queryKey({ id: openId ?? '' }),
    load: (id) => api.notices.getById.query({ id }),
  });
  const active = opened.row;
  return (
    <>
      <PageHeader
        title={t('notices.title')}
        note={pages.total !== null && t('notices.total', { count: pages.total })}
      />
      <FilterBar filters={filters} values={filter} onChange={change}>
        <ExportButton title={t('notices.title')} {...{ columns, pages, filters, values: filter }} />
      </FilterBar>
      <ListAndPane
        list={
          <DataTable
            label={t('notices.title')}
            columns={columnsBeside(columns, active !== undefined, ['channel', 'error'])}
            pages={pages}
            keyOf={keyOf}
            sort={{ by: 'createdAt', order: filter.sortOrder ?? 'desc' }}
            onSort={({ order }) => change({ sortOrder: order })}
            activeKey={openId ?? null}
            onActivate={open}
            empty={
              filter.status || filter.kind ? (
                <NoMatch title={t('notices.noMatch')} onClear={clear} />
              ) : (
                <Empty icon="send" title={t('notices.none')}>
                  {t('notices.noneText')}
                </Empty>
              )
            }
          />
        }
        pane={
          active ? (
            <NoticePane key={active.id} notice={active} onClose={close} />
          ) : (
            <NotOpenedPane label={t('notices.details')} opened={opened} onClose={close} />
          )
        }
      />
    </>
  );
}

/** Who gets a message: a user, an address, or the channel itself. */
const recipientOf = ({ user, recipient, channelName }: Notice): string =>
  user?.name ?? (recipient || channelName);

function useNoticeColumns(): readonly Column<Notice>[] {
  const { t } = useTranslation('administration');
  return useMemo(
    () => [
      timeColumn('createdAt', t('deliveries.createdAt'), ({ createdAt }) => createdAt, {
        sortBy: 'createdAt',
      }),
      textColumn('subject', t('notices.subject'), ({ subject }) => subject),
      textColumn('recipient', t('notices.recipient'), recipientOf, { width: '12rem' }),
      {
        id: 'status',
        header: t('deliveries.status'),
        width: '9rem',
        csv: ({ status }) => t(`noticeStatus.${status}`),
        cell: ({ status }) => <StateBadge state={`noticeStatus.${status}`} />,
      },
      nameColumn('kind', t('deliveries.kind'), ({ kind }) => t(`noticeKinds.${kind}`), {
        width: '9rem',
        wideOnly: true,
      }),
      textColumn('channel', t('notices.channel'), ({ channelName }) => channelName, {
        width: '9rem',
        wideOnly: true,
      }),
      textColumn('error', t('deliveries.error'), ({ lastError }) => lastError, {
        wideOnly: true,
        className: 'text-muted',
      }),
    ],
    [t],
  );
}

function NoticePane({ notice, onClose }: { readonly notice: Notice; readonly onClose: () => void }) {
  const { t } = useTranslation('administration');
  const { say } = useNotices();
  const redeliver = useMutation({
    mutationFn: () => api.notices.redeliver.mutate({ id: notice.id }),
    onSuccess: () => {
      say(t('deliveries.again'));
      refreshChannels();
    },
  });
  const moment = (at: Date | null) => at && <Moment at={at} />;
  return (
    <SidePane label={t('notices.details')} title={t(`noticeKinds.${notice.kind}`)} onClose={onClose}>
      <Button
        icon="refresh"
        className="self-start"
        disabled={redeliver.isPending}
        onClick={() => redeliver.mutate()}
      >
        {notice.status === 'PENDING' ? t('deliveries.now') : t('webhooks.redeliver')}
      </Button>
      {redeliver.error && <Failure error={redeliver.error} />}
      <Facts
        facts={[
          [t('deliveries.status'), <StateBadge key="status" state={`noticeStatus.${notice.status}`} />],
          [t('notices.recipient'), <bdi key="recipient">{recipientOf(notice)}</bdi>],
          [
            t('notices.address'),
            <bdi key="address" dir="ltr">
              {notice.recipient}
            </bdi>,
          ],
          [t('notices.channel'), <bdi key="channel">{notice.channelName}</bdi>],
          [t('deliveries.createdAt'), moment(notice.createdAt)],
          [t('notices.sentAt'), moment(notice.sentAt)],
          [t('notices.acknowledgedAt'), moment(notice.acknowledgedAt)],
          [t('deliveries.due'), moment(notice.dueAt)],
          [t('deliveries.attempts'), notice.attempts],
          [t('deliveries.error'), notice.lastError && <bdi key="error">{notice.lastError}</bdi>],
          [t('deliveries.answer'), notice.lastAnswer && <bdi key="answer">{notice.lastAnswer}</bdi>],
        ]}
      />
      <p dir="auto" className="font-semibold wrap-anywhere">
        {notice.subject}
      </p>
      <p dir="auto" className="whitespace-pre-wrap wrap-anywhere">
        {notice.text}
      </p>
    </SidePane>
  );
}
