import { severities } from '@gantry/contract/values';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { dateFilters, type Filter } from '../../shared/filters/filter.ts';
import { useSeesPlates } from '../../shared/service/plates.tsx';
import { api } from '../../shared/service/service.ts';

function usePriorityFilter(): Filter {
  const { t } = useTranslation(['watchlist', 'common']);
  return useMemo(
    () => ({
      kind: 'choice',
      name: 'priority',
      label: t('fields.priority'),
      options: severities.map((value) => ({ value, label: t(`common:severity.${value}`) })),
    }),
    [t],
  );
}

/** The filters of the list of alerts: all those of `watchlist.getAlerts`. */
export function useAlertFilters(): readonly Filter[] {
  const { t } = useTranslation('watchlist');
  const seesPlates = useSeesPlates();
  const priority = usePriorityFilter();
  return useMemo<readonly Filter[]>(
    () => [
      {
        kind: 'yesNo',
        name: 'acknowledged',
        label: t('fields.state'),
        yes: t('alerts.acknowledged'),
        no: t('alerts.open'),
      },
      priority,
      {
        kind: 'yesNo',
        name: 'backlog',
        label: t('filters.arrival'),
        yes: t('alerts.backlog'),
        no: t('alerts.live'),
      },
      {
        kind: 'lookUp',
        name: 'entryId',
        label: t('fields.pattern'),
        find: async (search) => {
          // Users who may not see plates may not search or sort by them either; they choose by the reason.
          const sought = seesPlates ? ({ search, sortBy: 'pattern' } as const) : {};
          const { entries } = await api.watchlist.getAll.query({ ...sought, take: 20 });
          return entries.map(({ id, pattern, reason }) => ({ value: id, label: `${pattern} · ${reason}` }));
        },
        // Read from its alerts, which keep the pattern after the entry is deleted.
        nameOf: async (entryId) => {
          const { alerts } = await api.watchlist.getAlerts.query({ entryId, take: 1 });
          return alerts[0]?.pattern ?? entryId;
        },
      },
      ...dateFilters(t('filters.from'), t('filters.until')),
    ],
    [t, priority, seesPlates],
  );
}

/** The filters of the list of plates: those of `watchlist.getAll` that the user may use. */
export function usePlateFilters(): readonly Filter[] {
  const { t } = useTranslation('watchlist');
  const seesPlates = useSeesPlates();
  const priority = usePriorityFilter();
  return useMemo<readonly Filter[]>(
    () => [
      ...(seesPlates
        ? [
            {
              kind: 'text',
              name: 'search',
              label: t('filters.search'),
              hint: t('filters.searchHint'),
            } as const,
          ]
        : []),
      priority,
      {
        kind: 'yesNo',
        name: 'active',
        label: t('fields.validity'),
        yes: t('filters.active'),
        no: t('filters.inactive'),
      },
    ],
    [t, priority, seesPlates],
  );
}
