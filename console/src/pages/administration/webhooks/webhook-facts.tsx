import type { WatchedWebhook } from '@gantry/contract/webhooks';
import { useTranslation } from 'react-i18next';
import { Moment } from '../../../shared/time/moment.tsx';
import { Facts } from '../../../ui/panel.tsx';
import { Details } from '../activity/detail-value.tsx';
import { useKindName } from './kind-name.ts';
import { WebhookState } from './webhook-state.tsx';

/** The URL, state, kinds and filter of a webhook, and when it was created and changed. */
export function WebhookFacts({ webhook }: { readonly webhook: WatchedWebhook }) {
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
          [t('webhooks.state'), <WebhookState key="state" enabled={enabled} />],
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
