import type { Hotlist } from '@gantry/contract/hotlists';
import { permissionNames } from '@gantry/contract/permissions';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { useSeesPlates } from '../../shared/service/plates.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { SeverityBadge } from '../../shared/status/badges.tsx';
import { figureColumn, SecondLine } from '../../shared/table/column.tsx';
import { type Column, DataTable } from '../../shared/table/data-table.tsx';
import { usePages } from '../../shared/table/pages.ts';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { ListDialog } from './list-dialog.tsx';
import { PlateLookUp } from './plate-look-up.tsx';

const keyOf = ({ id }: Hotlist): string => id;

/** The hotlists: how old and long they are, and how many of their hits were rejected. */
export function HotlistsPage() {
  return useMay('manageHotlists') ? <Hotlists /> : <NotAllowed permission={permissionNames.manageHotlists} />;
}

function Hotlists() {
  const { t } = useTranslation('hotlists');
  const { create, list, plate } = useSearch({ from: '/shell/hotlists' });
  const seesPlates = useSeesPlates();
  const navigate = useNavigate({ from: '/hotlists' });
  const change = (values: { create?: boolean | undefined; list?: string; plate?: string | undefined }) =>
    void navigate({ search: (all) => ({ ...all, ...values }), replace: true });
  const pages = usePages({
    queryKey: service.hotlists.getAll.queryKey({}),
    load: (page, signal) => api.hotlists.getAll.query(page, { signal }),
    rows: 'hotlists',
    keyOf,
  });
  const open = ({ id }: Hotlist) =>
    void navigate({ to: '/hotlists/$hotlistId', params: { hotlistId: id }, search: {} });
  useCursor({
    rows: pages.rows,
    keyOf,
    activeKey: list ?? null,
    onMove: ({ id }) => change({ list: id }),
    onOpen: open,
  });
  useShortcuts([{ keys: 'n', label: t('new'), scope: 'page', run: () => change({ create: true }) }]);
  const add = (
    <Button kind="primary" icon="add" onClick={() => change({ create: true })}>
      {t('new')}
    </Button>
  );
  return (
    <>
      <PageHeader title={t('title')}>
        <Link to="/hits" className="text-accent underline">
          {t('hits')}
        </Link>
        {seesPlates && (
          <Button icon="search" onClick={() => change({ plate: '' })}>
            {t('lookUp.title')}
          </Button>
        )}
        {add}
      </PageHeader>
      <DataTable
        label={t('title')}
        columns={useColumns()}
        pages={pages}
        keyOf={keyOf}
        activeKey={list ?? null}
        onActivate={open}
        empty={
          <Empty icon="watchlist" title={t('none')} action={add}>
            {t('noneText')}
          </Empty>
        }
      />
      {plate !== undefined && seesPlates && (
        <PlateLookUp plate={plate} onClose={() => change({ plate: undefined })} />
      )}
      {create && <ListDialog onClose={() => change({ create: undefined })} onSaved={open} />}
    </>
  );
}

function useColumns(): readonly Column<Hotlist>[] {
  const { t } = useTranslation('hotlists');
  return useMemo(
    () => [
      {
        id: 'name',
        header: t('fields.name'),
        csv: ({ name }) => name,
        cell: ({ id, name, covert, entryCount, isStale, isActive, sourceProblem }) => (
          <span className="flex flex-wrap items-center gap-x-2">
            <Link
              to="/hotlists/$hotlistId"
              params={{ hotlistId: id }}
              search={{}}
              className="one-line max-w-full hover:underline"
            >
              <bdi>{name}</bdi>
            </Link>
            <SecondLine notNarrow>{t('entries', { count: entryCount })}</SecondLine>
            {covert && (
              <Badge tone="medium" icon="hold">
                {t('covert')}
              </Badge>
            )}
            {isStale && (
              <Badge tone="high" icon="time">
                {t('stale')}
              </Badge>
            )}
            {sourceProblem && (
              <Badge tone="high" icon="failure">
                {t('sourceProblem')}
              </Badge>
            )}
            {!isActive && (
              <Badge tone="low" icon="none">
                {t('inactive')}
              </Badge>
            )}
          </span>
        ),
      },
      {
        id: 'priority',
        header: t('fields.priority'),
        csv: ({ priority }) => priority,
        width: '7rem',
        cell: ({ priority }) => <SeverityBadge severity={priority} />,
      },
      figureColumn('entries', t('fields.entries'), ({ entryCount }) => entryCount, {
        width: '7rem',
        notNarrow: true,
      }),
      figureColumn('version', t('fields.version'), ({ version }) => version, {
        width: '6rem',
        wideOnly: true,
      }),
      figureColumn('hits', t('fields.hits'), ({ hitsOf7Days }) => hitsOf7Days, {
        width: '8rem',
        from: 'medium',
      }),
      figureColumn('rejected', t('fields.rejected'), ({ rejectedOf7Days }) => rejectedOf7Days, {
        width: '9.5rem',
        wideOnly: true,
      }),
      {
        id: 'refreshedAt',
        header: t('fields.refreshed'),
        csv: ({ refreshedAt }) => refreshedAt,
        width: '9rem',
        notNarrow: true,
        cell: ({ refreshedAt }) => refreshedAt && <Moment at={refreshedAt} as="ago" />,
      },
    ],
    [t],
  );
}
