import type { Connection } from '@gantry/contract/connections';
import { useTranslation } from 'react-i18next';
import { Moment } from '../../../shared/time/moment.tsx';
import { Badge } from '../../../ui/badge.tsx';

/**
 * Warnings about a connection: messages that the service refused because there were too many, messages that were lost,
 * and problems with its topics. Renders nothing if there are none.
 */
export function NotStored({ connection }: { readonly connection: Connection }) {
  const { t } = useTranslation('connections');
  const { limitedMessages, lastLimitedAt, lostMessages, lastLostAt, topicsWarning } = connection;
  if (limitedMessages === 0 && lostMessages === 0 && topicsWarning === null) return null;
  return (
    <ul className="flex flex-col gap-1 border-b bg-surface px-4 py-2">
      {lostMessages > 0 && (
        <li>
          <Badge tone="critical" icon="failure">
            {t('lost', { count: lostMessages })}
          </Badge>{' '}
          <span className="text-muted">
            {lastLostAt && <Moment at={lastLostAt} />} · {t('lostText')}
          </span>
        </li>
      )}
      {limitedMessages > 0 && (
        <li>
          <Badge tone="high" icon="high">
            {t('limited', { count: limitedMessages })}
          </Badge>{' '}
          <span className="text-muted">
            {lastLimitedAt && <Moment at={lastLimitedAt} />} · {t('limitedText')}
          </span>
        </li>
      )}
      {topicsWarning !== null && (
        <li>
          <Badge tone="high" icon="high">
            {t(`topicsWarning.${topicsWarning}`)}
          </Badge>{' '}
          <span className="text-muted">{t(`topicsWarningText.${topicsWarning}`)}</span>
        </li>
      )}
    </ul>
  );
}
