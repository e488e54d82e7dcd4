import type { User } from '@gantry/contract/users';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Column } from '../../table/data-table.tsx';
import { Moment } from '../../time/moment.tsx';
import { UserState } from './user-state.tsx';

export function useUserColumns(): readonly Column<User>[] {
  const { t } = useTranslation(['administration', 'shell']);
  return useMemo(
    () => [
      {
        id: 'name',
        header: t('users.name'),
        sortBy: 'firstName',
        cell: ({ firstName, lastName }) => <bdi>{`${firstName} ${lastName}`}</bdi>,
      },
      {
        id: 'email',
        header: t('users.email'),
        sortBy: 'email',
        wideOnly: true,
        cell: ({ email }) => <bdi>{email}</bdi>,
      },
      {
        id: 'role',
        header: t('users.role'),
        sortBy: 'role',
        width: '8rem',
        cell: ({ role }) => t(`shell:roles.${role}`),
      },
      {
        id: 'department',
        header: t('users.department'),
        wideOnly: true,
        cell: ({ department }) => <bdi>{department}</bdi>,
      },
      {
        id: 'state',
        header: t('users.state'),
        width: '8rem',
        cell: ({ isActive }) => <UserState isActive={isActive} />,
      },
      {
        id: 'lastLogin',
        header: t('users.lastLogin'),
        sortBy: 'lastLogin',
        width: '9rem',
        wideOnly: true,
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
