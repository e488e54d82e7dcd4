import { useTranslation } from 'react-i18next';
import { Badge } from '../../../ui/badge.tsx';

/** A badge that shows whether a webhook is enabled. */
export function WebhookState({ enabled }: { readonly enabled: boolean }) {
  const { t } = useTranslation('administration');
  return enabled ? (
    <Badge tone="calm" icon="good">
      {t('webhooks.enabled')}
    </Badge>
  ) : (
    <Badge tone="medium" icon="muted">
      {t('webhooks.disabled')}
    </Badge>
  );
}
