import type { WatchedWebhook } from '@gantry/contract/webhooks';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { figureColumn } from '../../../shared/table/column.tsx';
import { type Column, DataTable } from '../../../shared/table/data-table.tsx';
import { usePages } from '../../../shared/table/pages.ts';
import { useCursor } from '../../../shared/table/use-cursor.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { StateBadge } from '../state-badge.tsx';
import { deliveryState, useKindName } from './kinds.ts';
import { WebhookDialog } from './webhook-dialog.tsx';

const keyOf = ({ id }: WatchedWebhook): string => id;

/** The list of webhooks: URLs that are notified of changes. */
export function WebhooksPage() {
  const { t } = useTranslation('administration');
  const navigate = useNavigate();
  const [creates, setCreates] = useState(false);
  const [cursor, setCursor] = useState<string | null>(null);
  const columns = useWebhookColumns();
  const open = ({ id }: WatchedWebhook) =>
    void navigate({ to: '/administration/webhooks/$webhookId', params: { webhookId: id } });
  const pages = usePages({
    queryKey: service.webhooks.getAll.queryKey(),
    load: (page, signal) => api.webhooks.getAll.query(page, { signal }),
    rows: 'webhooks',
    keyOf,
  });
  useCursor({
    rows: pages.rows,
    keyOf,
    activeKey: cursor,
    onMove: ({ id }) => setCursor(id),
    onOpen: open,
  });
  useShortcuts([{ keys: 'n', label: t('webhooks.create'), scope: 'page', run: () => setCreates(true) }]);
  const create = (
    <Button kind="primary" icon="add" onClick={() => setCreates(true)}>
      {t('webhooks.create')}
    </Button>
  );
  return (
    <>
      <PageHeader
        title={t('webhooks.title')}
        note={pages.total !== null && t('webhooks.total', { count: pages.total })}
      >
        {pages.rows.length > 0 && create}
      </PageHeader>
      <DataTable
        label={t('webhooks.title')}
        columns={columns}
        pages={pages}
        keyOf={keyOf}
        activeKey={cursor}
        onActivate={open}
        empty={
          <Empty icon="link" title={t('webhooks.none')} action={create}>
            {t('webhooks.noneText')}
          </Empty>
        }
      />
      {creates && <WebhookDialog onClose={() => setCreates(false)} onSaved={open} />}
    </>
  );
}

function useWebhookColumns(): readonly Column<WatchedWebhook>[] {
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
        cell: ({ enabled }) => <StateBadge state={enabled ? 'webhooks.enabled' : 'webhooks.disabled'} />,
      },
      figureColumn('pending', t('webhooks.pending'), ({ pending }) => pending, {
        width: '6rem',
        wideOnly: true,
      }),
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
              <StateBadge state={deliveryState(lastDelivery.status, lastDelivery.error !== null)} />
              <Moment at={lastDelivery.at} as="ago" className="text-muted" />
            </span>
          ),
      },
    ],
    [t, i18n.language],
  );
}
