import type { LegalHold } from '@gantry/contract/storage';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Column } from '../../../shared/table/data-table.tsx';
import { Moment } from '../../../shared/time/moment.tsx';
import { HoldState } from './hold-state.tsx';

export function useHoldColumns(): readonly Column<LegalHold>[] {
  const { t, i18n } = useTranslation('administration');
  return useMemo(
    () => [
      {
        id: 'reason',
        header: t('holds.reason'),
        csv: ({ reason }) => reason,
        cell: ({ reason }) => <bdi>{reason}</bdi>,
      },
      {
        id: 'state',
        header: t('holds.state'),
        width: '8rem',
        csv: ({ releasedAt }) => t(releasedAt ? 'holds.released' : 'holds.active'),
        cell: (hold) => <HoldState hold={hold} />,
      },
      {
        id: 'events',
        header: t('storage.events'),
        width: '6rem',
        isFigure: true,
        csv: ({ eventCount }) => eventCount,
        cell: ({ eventCount }) => eventCount.toLocaleString(i18n.language),
      },
      {
        id: 'by',
        header: t('holds.by'),
        width: '12rem',
        wideOnly: true,
        csv: ({ createdBy }) => createdBy?.name ?? null,
        cell: ({ createdBy }) => createdBy && <bdi>{createdBy.name}</bdi>,
      },
      {
        id: 'at',
        header: t('holds.at'),
        width: '11.5rem',
        wideOnly: true,
        csv: ({ createdAt }) => createdAt,
        cell: ({ createdAt }) => <Moment at={createdAt} />,
      },
    ],
    [t, i18n.language],
  );
}
