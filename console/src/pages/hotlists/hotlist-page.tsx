import type { Hotlist, HotlistEntry } from '@gantry/contract/hotlists';
import { permissionNames } from '@gantry/contract/permissions';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../shared/form/form-dialog.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { Loaded } from '../../shared/page/resource-page.tsx';
import { PlatesHidden, useSeesPlates } from '../../shared/service/plates.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { SecondLine, TIME_WIDTH, textColumn } from '../../shared/table/column.tsx';
import { type Column, DataTable } from '../../shared/table/data-table.tsx';
import { usePages } from '../../shared/table/pages.ts';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { BackLink, partLook } from '../../ui/links.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { EntryDialog } from './entry-dialog.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { Imports } from './imports.tsx';
import { ListDialog } from './list-dialog.tsx';
import { LookBacks } from './look-backs.tsx';

const keyOf = ({ id }: HotlistEntry): string => id;

const FROM = '/shell/hotlists/$hotlistId';

/** One hotlist: its entries, the imports of files, the look-backs, and its settings. */
export function HotlistPage() {
  return useMay('manageHotlists') ? <List /> : <NotAllowed permission={permissionNames.manageHotlists} />;
}

/** Interval at which the list is asked for, in milliseconds: other users and its source change it. */
const ASK_MS = 5_000;

function List() {
  const { t } = useTranslation('hotlists');
  const { hotlistId } = useParams({ from: FROM });
  const { part } = useSearch({ from: FROM });
  const query = useQuery({
    ...service.hotlists.getById.queryOptions({ id: hotlistId }),
    refetchInterval: ASK_MS,
  });
  const list = query.data;
  return (
    <>
      <PageHeader
        subject={list?.name}
        title={
          <span className="flex min-w-0 items-center gap-1">
            <BackLink to="/hotlists" aria-label={t('title')} />
            <bdi className="one-line max-w-[50vw]">{list?.name ?? t('title')}</bdi>
          </span>
        }
        note={
          <nav aria-label={t('title')} className="flex flex-wrap gap-1">
            {([undefined, 'imports', 'lookBacks'] as const).map((each) => (
              <Link
                key={each ?? 'entries'}
                to="/hotlists/$hotlistId"
                params={{ hotlistId }}
                search={each ? { part: each } : {}}
                activeOptions={{ exact: true }}
                aria-current={part === each ? 'page' : undefined}
                className={partLook(part === each)}
              >
                {t(each ? `${each}.title` : 'fields.entries')}
              </Link>
            ))}
          </nav>
        }
      >
        {list && <Commands list={list} />}
      </PageHeader>
      <PlatesHidden />
      <Loaded query={query}>
        {(loaded) => (
          <>
            <State list={loaded} />
            <Part list={loaded} />
          </>
        )}
      </Loaded>
    </>
  );
}

/** What the list is now, and what is wrong with it. */
function State({ list }: { readonly list: Hotlist }) {
  const { t } = useTranslation('hotlists');
  const { version, entryCount, refreshedAt, isStale, isActive, covert, sourceProblem, purpose } = list;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b px-4 py-2">
      <span className="figures">
        {t('fields.version')} {version} · {t('entries', { count: entryCount })}
      </span>
      {refreshedAt && (
        <span className="text-muted">
          {t('fields.refreshed')} <Moment at={refreshedAt} as="ago" />
        </span>
      )}
      {isStale && (
        <Badge tone="high" icon="time">
          {t('stale')}
        </Badge>
      )}
      {!isActive && (
        <Badge tone="low" icon="none">
          {t('inactive')}
        </Badge>
      )}
      {covert && (
        <Badge tone="medium" icon="hold">
          {t('covert')}
        </Badge>
      )}
      {purpose && <bdi className="text-muted">{purpose}</bdi>}
      {sourceProblem && (
        <p className="w-full text-critical">
          {t('sourceProblem')}: <bdi>{sourceProblem}</bdi>
        </p>
      )}
    </div>
  );
}

function Part({ list }: { readonly list: Hotlist }) {
  const { part, imported } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: '/hotlists/$hotlistId' });
  const open = (id: string | undefined) =>
    void navigate({ search: { part: 'imports', imported: id }, replace: id === undefined });
  if (part === 'lookBacks') return <LookBacks list={list} />;
  if (part !== 'imports') return <Entries list={list} />;
  const openId = imported ?? null;
  return (
    <>
      <Imports list={list} openId={openId} onOpen={open} />
      {openId !== null && (
        <ImportDialog
          list={list}
          importId={openId === 'new' ? null : openId}
          onOpen={open}
          onClose={() => open(undefined)}
        />
      )}
    </>
  );
}

function Commands({ list }: { readonly list: Hotlist }) {
  const { t } = useTranslation(['hotlists', 'common']);
  const navigate = useNavigate({ from: '/hotlists/$hotlistId' });
  const client = useQueryClient();
  const { say } = useNotices();
  const seesPlates = useSeesPlates();
  const [dialog, setDialog] = useState<'settings' | 'delete' | 'entry' | null>(null);
  const close = () => setDialog(null);
  const importFile = () => void navigate({ search: { part: 'imports', imported: 'new' } });
  useShortcuts(
    seesPlates
      ? [
          { keys: 'n', label: t('add'), scope: 'page', run: () => setDialog('entry') },
          { keys: 'i', label: t('import.title'), scope: 'page', run: importFile },
        ]
      : [],
  );
  return (
    <>
      <Button icon="delete" kind="quiet" onClick={() => setDialog('delete')}>
        {t('common:dialog.delete')}
      </Button>
      <Button icon="settings" onClick={() => setDialog('settings')}>
        {t('settings.open')}
      </Button>
      {seesPlates && (
        <>
          <Button icon="file" onClick={importFile}>
            {t('import.title')}
          </Button>
          <Button kind="primary" icon="add" onClick={() => setDialog('entry')}>
            {t('add')}
          </Button>
        </>
      )}
      {dialog === 'settings' && (
        <ListDialog
          list={list}
          onClose={close}
          onSaved={() => {
            say(t('settings.saved'));
            close();
          }}
        />
      )}
      {dialog === 'entry' && <EntryDialog hotlistId={list.id} entry={null} onClose={close} />}
      {dialog === 'delete' && (
        <ConfirmDialog
          title={t('delete.title', { name: list.name })}
          action={t('common:dialog.delete')}
          run={() => api.hotlists.delete.mutate({ id: list.id })}
          onDone={() => {
            void navigate({ to: '/hotlists', search: {} });
            void client.invalidateQueries({ queryKey: service.hotlists.getAll.pathKey() });
          }}
          onClose={close}
        >
          <p>{t('delete.text', { count: list.entryCount })}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function Entries({ list }: { readonly list: Hotlist }) {
  const { t } = useTranslation('hotlists');
  const { id: hotlistId } = list;
  const seesPlates = useSeesPlates();
  const [opened, setOpened] = useState<HotlistEntry | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const pages = usePages({
    // Another version has other entries.
    queryKey: [...service.hotlists.getEntries.queryKey({ hotlistId }), list.version],
    load: (page, signal) => api.hotlists.getEntries.query({ hotlistId, ...page }, { signal }),
    rows: 'entries',
    keyOf,
  });
  useCursor({
    rows: pages.rows,
    keyOf,
    activeKey: cursor,
    onMove: ({ id }) => setCursor(id),
    ...(seesPlates && { onOpen: setOpened }),
  });
  return (
    <>
      <DataTable
        label={t('fields.entries')}
        columns={useColumns()}
        pages={pages}
        keyOf={keyOf}
        activeKey={opened?.id ?? cursor}
        {...(seesPlates && { onActivate: setOpened })}
        empty={
          <Empty icon="watchlist" title={t('noEntries')}>
            {t('noEntriesText')}
          </Empty>
        }
      />
      {opened && <EntryDialog hotlistId={hotlistId} entry={opened} onClose={() => setOpened(null)} />}
    </>
  );
}

function useColumns(): readonly Column<HotlistEntry>[] {
  const { t } = useTranslation('hotlists');
  return useMemo(
    () => [
      {
        id: 'plate',
        header: t('fields.plate'),
        csv: ({ plate }) => plate,
        width: '12rem',
        cell: ({ plate, region }) => (
          <>
            <bdi className="font-mono">{plate}</bdi>
            <SecondLine from="medium">{region}</SecondLine>
          </>
        ),
      },
      textColumn('region', t('fields.region'), ({ region }) => region, { width: '6rem', from: 'medium' }),
      textColumn('reason', t('fields.reason'), ({ reason }) => reason),
      textColumn('reference', t('fields.reference'), ({ reference }) => reference, { from: 'medium' }),
      ...(['validFrom', 'validUntil'] as const).map(
        (name): Column<HotlistEntry> => ({
          id: name,
          header: t(`fields.${name}`),
          csv: (entry) => entry[name],
          width: TIME_WIDTH,
          wideOnly: true,
          cell: (entry) => {
            const at = entry[name];
            return at && <Moment at={at} />;
          },
        }),
      ),
    ],
    [t],
  );
}
