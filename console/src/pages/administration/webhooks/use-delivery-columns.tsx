import type { Delivery } from '@gantry/contract/webhooks';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Column } from '../../../shared/table/data-table.tsx';
import { Moment } from '../../../shared/time/moment.tsx';
import { DeliveryStatusBadge, shownStatus } from './delivery-status.tsx';
import { useKindName } from './kind-name.ts';

export function useDeliveryColumns(): readonly Column<Delivery>[] {
  const { t, i18n } = useTranslation('administration');
  const kindName = useKindName();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `kindName` changes only with the language
  return useMemo(
    () => [
      {
        id: 'createdAt',
        header: t('deliveries.createdAt'),
        sortBy: 'createdAt',
        width: '11.5rem',
        csv: ({ createdAt }) => createdAt,
        cell: ({ createdAt }) => <Moment at={createdAt} />,
      },
      {
        id: 'kind',
        header: t('deliveries.kind'),
        csv: ({ kind }) => kindName(kind),
        cell: ({ kind }) => kindName(kind),
      },
      {
        id: 'status',
        header: t('deliveries.status'),
        width: '9rem',
        csv: ({ status, lastError }) => t(`deliveryStatus.${shownStatus(status, lastError !== null)}`),
        cell: ({ status, lastError }) => (
          <DeliveryStatusBadge status={status} hasFailed={lastError !== null} />
        ),
      },
      {
        id: 'attempts',
        header: t('deliveries.attempts'),
        width: '6rem',
        isFigure: true,
        wideOnly: true,
        csv: ({ attempts }) => attempts,
        cell: ({ attempts }) => attempts.toLocaleString(i18n.language),
      },
      {
        id: 'answer',
        header: t('deliveries.answer'),
        wideOnly: true,
        csv: ({ lastStatus, lastError }) => lastError ?? (lastStatus === null ? null : `HTTP ${lastStatus}`),
        cell: ({ lastStatus, lastError }) => (
          <bdi className="text-muted">{lastError ?? (lastStatus !== null && `HTTP ${lastStatus}`)}</bdi>
        ),
      },
      {
        id: 'due',
        header: t('deliveries.due'),
        width: '9rem',
        wideOnly: true,
        csv: ({ dueAt }) => dueAt,
        cell: ({ dueAt }) => dueAt && <Moment at={dueAt} as="ago" />,
      },
    ],
    [t, i18n.language],
  );
}
