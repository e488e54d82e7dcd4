import type { Webhook } from '@gantry/contract/webhooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../../shared/form/confirm-dialog.tsx';
import { OnceSecret } from '../../../shared/notices/once-secret.tsx';
import { api } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { refreshWebhooks } from './refresh.ts';

/** A dialog that replaces the secret of a webhook, and shows the new one once. */
export function RotateDialog({
  webhook,
  onClose,
}: {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}) {
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
