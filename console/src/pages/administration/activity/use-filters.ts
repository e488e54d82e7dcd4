import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { dateFilters, type Filter } from '../../../shared/filters/filter.ts';
import { usePurposes } from '../../../shared/service/plates.tsx';
import { api } from '../../../shared/service/service.ts';
import { nameOf } from '../users/refresh.ts';
import { actions, nouns } from './actions.ts';

/** The filters of `users.getActivityLog`. */
export function useActivityFilters(): readonly Filter[] {
  const { t } = useTranslation('administration');
  const actionName = useActionName();
  const purposes = usePurposes();
  return useMemo(
    () => [
      {
        kind: 'lookUp',
        name: 'userId',
        label: t('activity.user'),
        find: async (search) => {
          const { users } = await api.users.getAll.query({ search, take: 20, sortBy: 'firstName' });
          return users.map((user) => ({ value: user.id, label: `${nameOf(user)} · ${user.email}` }));
        },
        nameOf: async (id) => nameOf(await api.users.getById.query({ id })),
      },
      {
        kind: 'choice',
        name: 'action',
        label: t('activity.action'),
        options: nouns.flatMap((noun) => [
          { value: `${noun}.`, label: t('activity.allOf', { noun: t(`nouns.${noun}`) }) },
          ...actions[noun].map((verb) => ({
            value: `${noun}.${verb}`,
            label: actionName(`${noun}.${verb}`),
          })),
        ]),
      },
      { kind: 'text', name: 'about', label: t('activity.about'), hint: t('activity.aboutHint') },
      ...(purposes.length > 0
        ? [
            {
              kind: 'choice' as const,
              name: 'purpose',
              label: t('details.purpose'),
              options: purposes.map(({ code, name }) => ({ value: code, label: name })),
            },
          ]
        : []),
      { kind: 'text', name: 'caseNumber', label: t('details.caseNumber') },
      ...dateFilters(t('activity.from'), t('activity.until')),
    ],
    [t, actionName, purposes],
  );
}

/** Returns the display name of an action of the activity log; an action unknown to this console keeps its own name. */
export function useActionName(): (action: string) => string {
  const { t, i18n } = useTranslation('administration');
  return useCallback(
    (action) => {
      const isKnown = i18n.exists(`actions.${action}`, { ns: 'administration' });
      return isKnown ? t(`actions.${action}` as 'actions.auth.login') : action;
    },
    [t, i18n],
  );
}
