import type { Delivery, WatchedWebhook, Webhook } from '@gantry/contract/webhooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../../shared/form/form-dialog.tsx';
import { OnceSecret } from '../../../shared/notices/copy-button.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { DeliveryFacts } from './delivery-pane.tsx';
import { refreshWebhooks } from './kinds.ts';
import { WebhookDialog } from './webhook-dialog.tsx';

type Open = 'edit' | 'rotate' | 'redeliver' | 'delete' | null;

export function WebhookActions({ webhook }: { readonly webhook: WatchedWebhook }) {
  const { t, i18n } = useTranslation(['administration', 'common']);
  const { say, sayFailure } = useNotices();
  const navigate = useNavigate();
  const [open, setOpen] = useState<Open>(null);
  const { id, url, enabled, dead, pending } = webhook;
  const close = () => setOpen(null);
  const turn = useMutation({
    mutationFn: () => api.webhooks.update.mutate({ id, enabled: !enabled }),
    onSuccess: () => {
      say(enabled ? t('webhooks.wasDisabled') : t('webhooks.wasEnabled'));
      void refreshWebhooks();
    },
    onError: sayFailure,
  });
  const test = useMutation({
    mutationFn: () => api.webhooks.test.mutate({ id }),
    onSuccess: () => void refreshWebhooks(),
    onError: sayFailure,
  });
  const n = dead.toLocaleString(i18n.language);
  return (
    <>
      {dead > 0 && (
        <Button icon="refresh" onClick={() => setOpen('redeliver')}>
          {t('webhooks.redeliverDead', { count: dead, n })}
        </Button>
      )}
      <Button icon="send" disabled={!enabled || test.isPending} onClick={() => test.mutate()}>
        {t('webhooks.test')}
      </Button>
      <Button icon="edit" onClick={() => setOpen('edit')}>
        {t('users.edit')}
      </Button>
      <Button icon={enabled ? 'muted' : 'alert'} disabled={turn.isPending} onClick={() => turn.mutate()}>
        {enabled ? t('webhooks.disable') : t('webhooks.enable')}
      </Button>
      <Button icon="key" onClick={() => setOpen('rotate')}>
        {t('webhooks.rotate')}
      </Button>
      <Button kind="danger" icon="delete" onClick={() => setOpen('delete')}>
        {t('common:dialog.delete')}
      </Button>
      {open === 'edit' && <WebhookDialog webhook={webhook} onClose={close} onSaved={close} />}
      {test.data && <TestDialog webhookId={id} deliveryId={test.data.deliveryId} onClose={test.reset} />}
      {open === 'rotate' && <RotateDialog webhook={webhook} onClose={close} />}
      {open === 'redeliver' && (
        <ConfirmDialog
          title={t('webhooks.redeliverTitle')}
          action={t('webhooks.redeliver')}
          run={() => api.webhooks.redeliver.mutate({ webhookId: id, status: 'DEAD' })}
          onDone={() => {
            close();
            say(t('webhooks.redelivered', { count: dead, n }));
            void refreshWebhooks();
          }}
          onClose={close}
        >
          <p>{t('webhooks.redeliverText', { count: dead, n })}</p>
        </ConfirmDialog>
      )}
      {open === 'delete' && (
        <ConfirmDialog
          title={t('webhooks.deleteTitle')}
          action={t('webhooks.deleteAction')}
          run={() => api.webhooks.delete.mutate({ id })}
          onDone={() => {
            say(t('webhooks.deleted'));
            void refreshWebhooks();
            void navigate({ to: '/administration/webhooks' });
          }}
          onClose={close}
        >
          <p>
            <bdi className="font-mono">{url}</bdi>
          </p>
          <p>{t('webhooks.deleteText', { count: pending })}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** A dialog that replaces the secret of a webhook, and shows the new one once. */
function RotateDialog({ webhook, onClose }: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const { t } = useTranslation(['administration', 'common']);
  const [secret, setSecret] = useState<string | null>(null);
  if (secret !== null) {
    return (
      <Dialog title={t('webhooks.rotated')} open>
        <p>{t('webhooks.secretText')}</p>
        <OnceSecret secret={secret} label={t('webhooks.secret')} />
        <Button kind="primary" onClick={onClose}>
          {t('common:dialog.close')}
        </Button>
      </Dialog>
    );
  }
  return (
    <ConfirmDialog
      title={t('webhooks.rotate')}
      action={t('webhooks.rotate')}
      run={async () => {
        const updated = await api.webhooks.update.mutate({ id: webhook.id, rotateSecret: true });
        setSecret(updated.secret ?? '');
      }}
      onDone={() => void refreshWebhooks()}
      onClose={onClose}
    >
      <p>{t('webhooks.rotateText')}</p>
    </ConfirmDialog>
  );
}

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
function TestDialog({ webhookId, deliveryId, onClose }: TestDialogProps) {
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
