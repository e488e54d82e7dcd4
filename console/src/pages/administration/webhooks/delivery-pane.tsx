import type { Delivery } from '@gantry/contract/webhooks';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../../shared/notices/copy-button.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { api } from '../../../shared/service/service.ts';
import { SidePane } from '../../../shared/table/side-pane.tsx';
import { Button } from '../../../ui/button.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { readable } from '../../../ui/readable.ts';
import { DeliveryFacts } from './delivery-facts.tsx';
import { useKindName } from './kind-name.ts';
import { refreshWebhooks } from './refresh.ts';

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
