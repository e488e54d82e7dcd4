import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { FilterBar } from '../../../shared/filters/filter-bar.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { nameColumn, timeColumn } from '../../../shared/table/column.tsx';
import { type Column, DataTable } from '../../../shared/table/data-table.tsx';
import { ExportButton } from '../../../shared/table/export-button.tsx';
import { useOpened } from '../../../shared/table/opened.tsx';
import { usePages } from '../../../shared/table/pages.ts';
import { columnsBeside, ListAndPane, NotOpenedPane } from '../../../shared/table/side-pane.tsx';
import { useCursor } from '../../../shared/table/use-cursor.ts';
import { usePane } from '../../../shared/url/use-pane.ts';
import { deviceOf } from '../../../shared/users/device.ts';
import { WithDefaultView } from '../../../shared/views/with-default-view.tsx';
import { Button } from '../../../ui/button.tsx';
import { Empty, NoMatch } from '../../../ui/empty.tsx';
import { type Entry, EntryPane } from './entry-pane.tsx';
import { briefOf, mainSubjectOf, SubjectLink } from './subject.tsx';
import { useActionName, useActivityFilters } from './use-filters.ts';

const keyOf = ({ id }: Entry): string => id;

/** The activity log: who did what, when, and from where. */
export function ActivityPage() {
  return (
    <WithDefaultView page="activity">
      <Activity />
    </WithDefaultView>
  );
}

function Activity() {
  const { t } = useTranslation('administration');
  const { entry: openId, ...input } = useSearch({ from: '/shell/administration/activity' });
  const { change, open, close, clear } = usePane('/administration/activity', 'entry', openId);
  const filters = useActivityFilters();
  const columns = useActivityColumns();
  const pages = usePages({
    queryKey: service.users.getActivityLog.queryKey(input),
    load: (page, signal) => api.users.getActivityLog.query({ ...input, ...page }, { signal }),
    rows: 'activities',
    keyOf,
  });
  const { active: listed } = useCursor({ rows: pages.rows, keyOf, activeKey: openId, onMove: open });
  const opened = useOpened<Entry>({
    id: openId,
    listed,
    isPending: pages.isPending,
    queryKey: service.users.getActivityEntry.queryKey({ id: openId ?? '' }),
    load: (id) => api.users.getActivityEntry.query({ id }),
  });
  const active = opened.row;
  return (
    <>
      <PageHeader
        title={t('activity.title')}
        note={pages.total !== null && t('activity.total', { count: pages.total })}
      >
        <ExportButton title={t('activity.title')} {...{ columns, pages, filters, values: input }} />
        <Button icon="refresh" onClick={pages.refetch}>
          {t('refresh')}
        </Button>
      </PageHeader>
      <FilterBar page="activity" filters={filters} values={input} onChange={change} />
      <ListAndPane
        list={
          <DataTable
            label={t('activity.title')}
            columns={columnsBeside(columns, active !== undefined, ['from'])}
            pages={pages}
            keyOf={keyOf}
            activeKey={openId ?? null}
            onActivate={open}
            empty={
              Object.keys(input).length > 0 ? (
                <NoMatch title={t('activity.noMatch')} onClear={clear} />
              ) : (
                <Empty icon="activity" title={t('activity.nothing')} />
              )
            }
          />
        }
        pane={
          active ? (
            <EntryPane entry={active} onClose={close} />
          ) : (
            <NotOpenedPane label={t('activity.title')} opened={opened} onClose={close} />
          )
        }
      />
    </>
  );
}

function useActivityColumns(): readonly Column<Entry>[] {
  const { t } = useTranslation('administration');
  const actionName = useActionName();
  return useMemo(
    () => [
      timeColumn('at', t('activity.at'), ({ timestamp }) => timestamp),
      {
        id: 'by',
        header: t('activity.user'),
        csv: ({ by }) => by?.name ?? t('activity.nobody'),
        cell: ({ by }) =>
          by ? <bdi>{by.name}</bdi> : <span className="text-muted">{t('activity.nobody')}</span>,
      },
      nameColumn('action', t('activity.action'), ({ action }) => actionName(action)),
      {
        id: 'about',
        header: t('activity.subject'),
        wideOnly: true,
        csv: ({ action, details }) => {
          const subject = mainSubjectOf(action, details);
          return (
            [subject && t(`subjects.${subject.kind}`), briefOf(details)].filter(Boolean).join(' ') || null
          );
        },
        cell: ({ action, details }) => {
          const subject = mainSubjectOf(action, details);
          const text = briefOf(details);
          if (!subject) return text && <bdi className="text-muted">{text}</bdi>;
          return (
            <>
              <SubjectLink subject={subject}>{t(`subjects.${subject.kind}`)}</SubjectLink>
              {text && <bdi className="text-muted"> {text}</bdi>}
            </>
          );
        },
      },
      {
        id: 'from',
        header: t('activity.where'),
        width: '13rem',
        wideOnly: true,
        csv: ({ ipAddress, userAgent }) => [ipAddress, userAgent].filter(Boolean).join(' ') || null,
        cell: ({ ipAddress, userAgent }) => (
          <span title={userAgent ?? undefined}>
            <bdi className="figures">{ipAddress}</bdi> <bdi className="text-muted">{deviceOf(userAgent)}</bdi>
          </span>
        ),
      },
    ],
    [t, actionName],
  );
}
