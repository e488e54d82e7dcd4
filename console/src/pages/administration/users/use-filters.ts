import { roles } from '@gantry/contract/values';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter } from '../../../shared/filters/filter.ts';

/** The filters of `users.getAll`. */
export function useUserFilters(): readonly Filter[] {
  const { t } = useTranslation(['administration', 'shell']);
  return useMemo(
    () => [
      { kind: 'text', name: 'search', label: t('users.search'), hint: t('users.searchHint') },
      {
        kind: 'choice',
        name: 'role',
        label: t('users.role'),
        options: roles.map((value) => ({ value, label: t(`shell:roles.${value}`) })),
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
