import type { Delivery } from '@gantry/contract/webhooks';
import { useTranslation } from 'react-i18next';
import { Moment } from '../../../shared/time/moment.tsx';
import { Facts } from '../../../ui/panel.tsx';
import { DeliveryStatusBadge } from './delivery-status.tsx';
import { useKindName } from './kind-name.ts';

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
          <DeliveryStatusBadge key="status" status={status} hasFailed={lastError !== null} />,
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
