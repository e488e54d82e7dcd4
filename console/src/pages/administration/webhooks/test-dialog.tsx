import type { Delivery } from '@gantry/contract/webhooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { DeliveryFacts } from './delivery-pane.tsx';
import { refreshWebhooks } from './kinds.ts';

/** How often the console checks whether the receiver has responded, in milliseconds. */
const LOOK_MS = 700;

/** Whether the first attempt has finished. `lastAttemptAt` does not tell, as it is set when the attempt starts. */
function isAnswered({ status, lastStatus, lastError }: Delivery): boolean {
  return status !== 'PENDING' || lastStatus !== null || lastError !== null;
}

interface TestDialogProps {
  readonly webhookId: string;
  /** Id of the delivery of the test message. */
  readonly deliveryId: string;
  readonly onClose: () => void;
}

/** A dialog that waits for the response of the receiver to a test message, and shows it. */
export function TestDialog({ webhookId, deliveryId, onClose }: TestDialogProps) {
  const { t } = useTranslation(['administration', 'common']);
  const { data, error } = useQuery({
    ...service.webhooks.getDeliveries.queryOptions({ webhookId, kind: 'test', take: 20 }),
    staleTime: 0,
    refetchInterval: ({ state }) => {
      const own = state.data?.deliveries.find(({ id }) => id === deliveryId);
      return own && isAnswered(own) ? false : LOOK_MS;
    },
  });
  const own = data?.deliveries.find(({ id }) => id === deliveryId);
  const delivery = own && isAnswered(own) ? own : undefined;
  const answered = delivery !== undefined;
  // The list below the dialog may have been read before the attempt.
  useEffect(() => {
    if (answered) void refreshWebhooks();
  }, [answered]);
  return (
    <Dialog title={t('webhooks.testTitle')} open onClose={onClose} width="wide">
      <p aria-live="polite">
        {delivery
          ? t(delivery.status === 'DELIVERED' ? 'webhooks.testGood' : 'webhooks.testBad')
          : t('webhooks.testWaits')}
      </p>
      {error && <Failure error={error} />}
      {!delivery && !error && <Skeleton rows={3} />}
      {delivery && <DeliveryFacts delivery={delivery} />}
      <div className="flex justify-end">
        <Button onClick={onClose}>{t('common:dialog.close')}</Button>
      </div>
    </Dialog>
  );
}
