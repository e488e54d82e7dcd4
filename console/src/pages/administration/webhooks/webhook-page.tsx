import type { WatchedWebhook } from '@gantry/contract/webhooks';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Loaded } from '../../../shared/page/resource-page.tsx';
import { service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { Facts } from '../../../ui/panel.tsx';
import { Details } from '../activity/entry-pane.tsx';
import { StateBadge } from '../state-badge.tsx';
import { Deliveries } from './deliveries.tsx';
import { useKindName } from './kinds.ts';
import { WebhookActions } from './webhook-actions.tsx';

const REFRESH_MS = 5_000;

/** The page of a webhook: its settings and its deliveries. */
export function WebhookPage() {
  const { t } = useTranslation('administration');
  const { webhookId } = useParams({ from: '/shell/administration/webhooks/$webhookId' });
  const query = useQuery({
    ...service.webhooks.getById.queryOptions({ id: webhookId }),
    refetchInterval: REFRESH_MS,
  });
  const webhook = query.data;
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
      <Loaded query={query}>
        {(loaded) => (
          <>
            <WebhookFacts webhook={loaded} />
            <Deliveries webhook={loaded} />
          </>
        )}
      </Loaded>
    </>
  );
}

/** The URL, state, kinds and filter of a webhook, and when it was created and changed. */
function WebhookFacts({ webhook }: { readonly webhook: WatchedWebhook }) {
  const { t, i18n } = useTranslation('administration');
  const kindName = useKindName();
  const { url, kinds, filter, enabled, createdBy, createdAt, updatedAt } = webhook;
  return (
    <section
      aria-label={t('webhooks.facts')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
      tabIndex={0}
      className="grid shrink-0 items-start gap-x-8 gap-y-1.5 overflow-y-auto border-b bg-surface p-3 max-md:max-h-28 lg:grid-cols-2"
    >
      <Facts
        facts={[
          [
            t('webhooks.url'),
            <bdi key="url" className="font-mono">
              {url}
            </bdi>,
          ],
          [
            t('webhooks.state'),
            <StateBadge key="state" state={enabled ? 'webhooks.enabled' : 'webhooks.disabled'} />,
          ],
          [t('webhooks.kinds'), new Intl.ListFormat(i18n.language).format(kinds.map(kindName))],
        ]}
      />
      <Facts
        facts={[
          [
            t('webhooks.filter'),
            Object.keys(filter).length > 0 ? (
              <Details key="filter" details={filter} />
            ) : (
              <span key="filter" className="text-muted">
                {t('webhooks.noFilter')}
              </span>
            ),
          ],
          [
            t('webhooks.createdAt'),
            <span key="created">
              <Moment at={createdAt} /> {createdBy && <bdi className="text-muted">{createdBy.name}</bdi>}
            </span>,
          ],
          [t('webhooks.updatedAt'), <Moment key="updated" at={updatedAt} />],
        ]}
      />
    </section>
  );
}
