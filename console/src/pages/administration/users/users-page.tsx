import type { User } from '@gantry/contract/users';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { FilterValues } from '../../../shared/filters/filter.ts';
import { FilterBar } from '../../../shared/filters/filter-bar.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { DataTable } from '../../../shared/table/data-table.tsx';
import { ExportButton } from '../../../shared/table/export-button.tsx';
import { usePages } from '../../../shared/table/pages.ts';
import { columnsBeside, ListAndPane } from '../../../shared/table/side-pane.tsx';
import { useCursor } from '../../../shared/table/use-cursor.ts';
import { isInPlace } from '../../../shared/url/search.ts';
import { WithDefaultView } from '../../../shared/views/with-default-view.tsx';
import { Button } from '../../../ui/button.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { NoMatch } from '../no-match.tsx';
import { useUserColumns } from './columns.tsx';
import { CreateDialog } from './create-dialog.tsx';
import { useUserFilters } from './use-filters.ts';
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
  const { t, i18n } = useTranslation('administration');
  const { user: openId, ...input } = useSearch({ from: '/shell/administration/users' });
  const navigate = useNavigate({ from: '/administration/users' });
  const [creates, setCreates] = useState(false);
  const change = (values: FilterValues) =>
    void navigate({
      search: (all) => ({ ...all, ...values }),
      replace: isInPlace(values, 'user', openId),
    });
  const open = ({ id }: User) => change({ user: id });
  const filters = useUserFilters();
  const columns = useUserColumns();
  const pages = usePages<User>({
    queryKey: service.users.getAll.queryKey(input),
    load: async (page, signal) => {
      const { users, total } = await api.users.getAll.query({ ...input, ...page }, { signal });
      return { rows: users, total };
    },
    keyOf,
  });
  useCursor({ rows: pages.rows, keyOf, activeKey: openId, onMove: open });
  useShortcuts([{ keys: 'n', label: t('users.create'), scope: 'page', run: () => setCreates(true) }]);
  return (
    <>
      <PageHeader
        title={t('users.title')}
        note={
          pages.total !== null &&
          t('users.total', { count: pages.total, n: pages.total.toLocaleString(i18n.language) })
        }
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
            empty={<NoMatch title={t('users.noMatch')} onClear={() => void navigate({ search: {} })} />}
          />
        }
        pane={openId && <UserPane key={openId} id={openId} onClose={() => change({ user: undefined })} />}
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
