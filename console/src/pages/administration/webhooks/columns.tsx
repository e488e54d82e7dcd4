import type { WatchedWebhook } from '@gantry/contract/webhooks';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Column } from '../../../shared/table/data-table.tsx';
import { Moment } from '../../../shared/time/moment.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { DeliveryStatusBadge } from './delivery-status.tsx';
import { useKindName } from './kind-name.ts';
import { WebhookState } from './webhook-state.tsx';

export function useWebhookColumns(): readonly Column<WatchedWebhook>[] {
  const { t, i18n } = useTranslation('administration');
  const kindName = useKindName();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `kindName` changes only with the language
  return useMemo(
    () => [
      {
        id: 'url',
        header: t('webhooks.url'),
        cell: ({ url, description }) => (
          <>
            <bdi className="font-mono">{url}</bdi>
            {description !== null && <bdi className="text-muted"> {description}</bdi>}
          </>
        ),
      },
      {
        id: 'kinds',
        header: t('webhooks.kinds'),
        wideOnly: true,
        cell: ({ kinds }) => new Intl.ListFormat(i18n.language).format(kinds.map(kindName)),
      },
      {
        id: 'state',
        header: t('webhooks.state'),
        width: '8rem',
        cell: ({ enabled }) => <WebhookState enabled={enabled} />,
      },
      {
        id: 'pending',
        header: t('webhooks.pending'),
        width: '6rem',
        isFigure: true,
        wideOnly: true,
        cell: ({ pending }) => pending.toLocaleString(i18n.language),
      },
      {
        id: 'dead',
        header: t('webhooks.dead'),
        width: '6rem',
        isFigure: true,
        cell: ({ dead }) =>
          dead > 0 ? (
            <Badge tone="critical" icon="failure">
              {dead.toLocaleString(i18n.language)}
            </Badge>
          ) : (
            (0).toLocaleString(i18n.language)
          ),
      },
      {
        id: 'last',
        header: t('webhooks.last'),
        width: '14rem',
        wideOnly: true,
        cell: ({ lastDelivery }) =>
          lastDelivery && (
            <span className="inline-flex gap-2">
              <DeliveryStatusBadge status={lastDelivery.status} hasFailed={lastDelivery.error !== null} />
              <Moment at={lastDelivery.at} as="ago" className="text-muted" />
            </span>
          ),
      },
    ],
    [t, i18n.language],
  );
}
