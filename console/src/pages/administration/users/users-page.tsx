import type { User } from '@gantry/contract/users';
import { roles } from '@gantry/contract/values';
import { useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter } from '../../../shared/filters/filter.ts';
import { FilterBar } from '../../../shared/filters/filter-bar.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { nameColumn, textColumn } from '../../../shared/table/column.tsx';
import { type Column, DataTable } from '../../../shared/table/data-table.tsx';
import { ExportButton } from '../../../shared/table/export-button.tsx';
import { usePages } from '../../../shared/table/pages.ts';
import { columnsBeside, ListAndPane } from '../../../shared/table/side-pane.tsx';
import { useCursor } from '../../../shared/table/use-cursor.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { usePane } from '../../../shared/url/use-pane.ts';
import { WithDefaultView } from '../../../shared/views/with-default-view.tsx';
import { Button } from '../../../ui/button.tsx';
import { NoMatch } from '../../../ui/empty.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { StateBadge } from '../state-badge.tsx';
import { nameOf } from './refresh.ts';
import { CreateDialog } from './user-dialogs.tsx';
import { UserPane } from './user-pane.tsx';

const keyOf = ({ id }: User): string => id;

/** The list of users, with the details of the selected one. */
export function UsersPage() {
  return (
    <WithDefaultView page="users">
      <Users />
    </WithDefaultView>
  );
}

function Users() {
  const { t } = useTranslation('administration');
  const { user: openId, ...input } = useSearch({ from: '/shell/administration/users' });
  const [creates, setCreates] = useState(false);
  const { change, open, close, clear } = usePane('/administration/users', 'user', openId);
  const filters = useUserFilters();
  const columns = useUserColumns();
  const pages = usePages({
    queryKey: service.users.getAll.queryKey(input),
    load: (page, signal) => api.users.getAll.query({ ...input, ...page }, { signal }),
    rows: 'users',
    keyOf,
  });
  useCursor({ rows: pages.rows, keyOf, activeKey: openId, onMove: open });
  useShortcuts([{ keys: 'n', label: t('users.create'), scope: 'page', run: () => setCreates(true) }]);
  return (
    <>
      <PageHeader
        title={t('users.title')}
        note={pages.total !== null && t('users.total', { count: pages.total })}
      >
        <ExportButton title={t('users.title')} {...{ columns, pages, filters, values: input }} />
        <Button kind="primary" icon="add" onClick={() => setCreates(true)}>
          {t('users.create')}
        </Button>
      </PageHeader>
      <FilterBar page="users" filters={filters} values={input} onChange={change} />
      <ListAndPane
        list={
          <DataTable
            label={t('users.title')}
            columns={columnsBeside(columns, openId !== undefined, ['email', 'department', 'lastLogin'])}
            pages={pages}
            keyOf={keyOf}
            sort={{ by: input.sortBy ?? 'createdAt', order: input.sortOrder ?? 'desc' }}
            onSort={({ by, order }) => change({ sortBy: by, sortOrder: order })}
            activeKey={openId ?? null}
            onActivate={open}
            empty={<NoMatch title={t('users.noMatch')} onClear={clear} />}
          />
        }
        pane={openId && <UserPane key={openId} id={openId} onClose={close} />}
      />
      {creates && (
        <CreateDialog
          onClose={() => setCreates(false)}
          onCreated={(user) => {
            setCreates(false);
            open(user);
          }}
        />
      )}
    </>
  );
}

function useUserColumns(): readonly Column<User>[] {
  const { t } = useTranslation(['administration', 'common']);
  return useMemo(
    () => [
      {
        id: 'name',
        header: t('users.name'),
        sortBy: 'firstName',
        csv: nameOf,
        cell: ({ firstName, lastName }) => <bdi>{`${firstName} ${lastName}`}</bdi>,
      },
      textColumn('email', t('users.email'), ({ email }) => email, { sortBy: 'email', wideOnly: true }),
      nameColumn('role', t('users.role'), ({ role }) => t(`common:roles.${role}`), {
        sortBy: 'role',
        width: 'min(8rem, 30cqi)',
      }),
      textColumn('department', t('users.department'), ({ department }) => department, { wideOnly: true }),
      {
        id: 'state',
        header: t('users.state'),
        width: 'min(8rem, 32cqi)',
        csv: ({ isActive }) => (isActive ? t('users.active') : t('users.inactive')),
        cell: ({ isActive }) => <StateBadge state={isActive ? 'users.active' : 'users.inactive'} />,
      },
      {
        id: 'lastLogin',
        header: t('users.lastLogin'),
        sortBy: 'lastLogin',
        width: '9rem',
        wideOnly: true,
        csv: ({ lastLogin }) => lastLogin ?? null,
        cell: ({ lastLogin }) =>
          lastLogin ? (
            <Moment at={lastLogin} as="ago" />
          ) : (
            <span className="text-muted">{t('users.never')}</span>
          ),
      },
    ],
    [t],
  );
}

/** The filters of `users.getAll`. */
function useUserFilters(): readonly Filter[] {
  const { t } = useTranslation(['administration', 'common']);
  return useMemo(
    () => [
      { kind: 'text', name: 'search', label: t('users.search'), hint: t('users.searchHint') },
      {
        kind: 'choice',
        name: 'role',
        label: t('users.role'),
        options: roles.map((value) => ({ value, label: t(`common:roles.${value}`) })),
      },
      { kind: 'text', name: 'department', label: t('users.department') },
      {
        kind: 'yesNo',
        name: 'isActive',
        label: t('users.state'),
        yes: t('users.active'),
        no: t('users.inactive'),
      },
    ],
    [t],
  );
}
