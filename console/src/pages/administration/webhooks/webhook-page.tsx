import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { Icon } from '../../../ui/icon.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Deliveries } from './deliveries.tsx';
import { WebhookActions } from './webhook-actions.tsx';
import { WebhookFacts } from './webhook-facts.tsx';

const REFRESH_MS = 5_000;

/** The page of a webhook: its settings and its deliveries. */
export function WebhookPage() {
  const { t } = useTranslation('administration');
  const { webhookId } = useParams({ from: '/shell/administration/webhooks/$webhookId' });
  const {
    data: webhook,
    error,
    refetch,
  } = useQuery({
    ...service.webhooks.getById.queryOptions({ id: webhookId }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <>
      <PageHeader
        subject={webhook?.description ?? webhook?.url}
        title={
          <span className="flex min-w-0 items-center gap-2">
            <Link to="/administration/webhooks" className="text-accent underline">
              {t('webhooks.title')}
            </Link>
            <Icon name="next" className="text-muted" />
            <bdi className="one-line max-w-[50vw] xl:max-w-2xl">{webhook?.description ?? webhook?.url}</bdi>
          </span>
        }
      >
        {webhook && <WebhookActions webhook={webhook} />}
      </PageHeader>
      {error && !webhook && (
        <div className="p-4">
          <Failure error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {!webhook && !error && <Skeleton rows={8} />}
      {webhook && (
        <>
          <WebhookFacts webhook={webhook} />
          <Deliveries webhook={webhook} />
        </>
      )}
    </>
  );
}
