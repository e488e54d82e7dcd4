import type { User } from '@gantry/contract/users';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Column } from '../../../shared/table/data-table.tsx';
import { Moment } from '../../../shared/time/moment.tsx';
import { nameOf } from './refresh.ts';
import { UserState } from './user-state.tsx';

export function useUserColumns(): readonly Column<User>[] {
  const { t } = useTranslation(['administration', 'shell']);
  return useMemo(
    () => [
      {
        id: 'name',
        header: t('users.name'),
        sortBy: 'firstName',
        csv: nameOf,
        cell: ({ firstName, lastName }) => <bdi>{`${firstName} ${lastName}`}</bdi>,
      },
      {
        id: 'email',
        header: t('users.email'),
        sortBy: 'email',
        wideOnly: true,
        csv: ({ email }) => email,
        cell: ({ email }) => <bdi>{email}</bdi>,
      },
      {
        id: 'role',
        header: t('users.role'),
        sortBy: 'role',
        width: 'min(8rem, 30cqi)',
        csv: ({ role }) => t(`shell:roles.${role}`),
        cell: ({ role }) => t(`shell:roles.${role}`),
      },
      {
        id: 'department',
        header: t('users.department'),
        wideOnly: true,
        csv: ({ department }) => department ?? null,
        cell: ({ department }) => <bdi>{department}</bdi>,
      },
      {
        id: 'state',
        header: t('users.state'),
        width: 'min(8rem, 32cqi)',
        csv: ({ isActive }) => (isActive ? t('users.active') : t('users.inactive')),
        cell: ({ isActive }) => <UserState isActive={isActive} />,
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
