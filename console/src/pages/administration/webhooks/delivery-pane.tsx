import type { Delivery } from '@gantry/contract/webhooks';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../../shared/notices/copy-button.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { api } from '../../../shared/service/service.ts';
import { SidePane } from '../../../shared/table/side-pane.tsx';
import { Moment } from '../../../shared/time/moment.tsx';
import { Button } from '../../../ui/button.tsx';
import { Facts, Panel } from '../../../ui/panel.tsx';
import { readable } from '../../../ui/readable.ts';
import { StateBadge } from '../state-badge.tsx';
import { deliveryState, refreshWebhooks, useKindName } from './kinds.ts';

/** The details of a delivery, with its body, and a button that sends it again. */
export function DeliveryPane({
  delivery,
  onClose,
}: {
  readonly delivery: Delivery;
  readonly onClose: () => void;
}) {
  const { t } = useTranslation('administration');
  const { say } = useNotices();
  const kindName = useKindName();
  const redeliver = useMutation({
    mutationFn: () => api.webhooks.redeliver.mutate({ id: delivery.id }),
    onSuccess: () => {
      say(t('deliveries.again'));
      void refreshWebhooks();
    },
  });
  return (
    <SidePane label={t('deliveries.details')} title={kindName(delivery.kind)} onClose={onClose}>
      <Button
        icon="refresh"
        className="self-start"
        disabled={redeliver.isPending}
        onClick={() => redeliver.mutate()}
      >
        {delivery.status === 'PENDING' ? t('deliveries.now') : t('webhooks.redeliver')}
      </Button>
      {redeliver.error && <Failure error={redeliver.error} />}
      <DeliveryFacts delivery={delivery} />
      <Panel
        title={t('deliveries.body')}
        actions={<CopyButton text={delivery.body} label={t('copy')} iconOnly />}
        isFull
      >
        <section
          aria-label={t('deliveries.body')}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
          tabIndex={0}
          className="max-h-96 overflow-auto p-3"
        >
          <pre dir="ltr" className="font-mono text-sm break-all whitespace-pre-wrap">
            {readable(delivery.body)}
          </pre>
        </section>
      </Panel>
    </SidePane>
  );
}

/** The state of a delivery: its attempts, the last response, and when the next attempt is due. */
export function DeliveryFacts({ delivery }: { readonly delivery: Delivery }) {
  const { t, i18n } = useTranslation('administration');
  const kindName = useKindName();
  const { id, kind, status, attempts, dueAt, createdAt, lastAttemptAt, lastStatus, lastAnswer, lastError } =
    delivery;
  return (
    <Facts
      facts={[
        [
          t('deliveries.status'),
          <StateBadge key="status" state={deliveryState(status, lastError !== null)} />,
        ],
        [t('deliveries.kind'), kindName(kind)],
        [t('deliveries.createdAt'), <Moment key="created" at={createdAt} />],
        [t('deliveries.attempts'), attempts.toLocaleString(i18n.language)],
        [t('deliveries.lastAttempt'), lastAttemptAt && <Moment key="last" at={lastAttemptAt} />],
        [t('deliveries.due'), dueAt && <Moment key="due" at={dueAt} />],
        [
          t('deliveries.answerStatus'),
          lastStatus !== null && (
            <bdi key="http" className="figures font-mono">
              {lastStatus}
            </bdi>
          ),
        ],
        [t('deliveries.error'), lastError !== null && <bdi key="error">{lastError}</bdi>],
        [
          t('deliveries.answer'),
          lastAnswer !== null && (
            <pre
              key="answer"
              dir="auto"
              // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
              tabIndex={0}
              className="max-h-40 overflow-auto rounded border bg-bg p-2 font-mono text-sm break-all whitespace-pre-wrap"
            >
              {lastAnswer || t('deliveries.noText')}
            </pre>
          ),
        ],
        [
          t('deliveries.id'),
          <bdi key="id" className="font-mono text-sm">
            {id}
          </bdi>,
        ],
      ].map(([name, value]) => [name, value === false ? null : value] as [string, typeof value])}
    />
  );
}
