import type { ApiToken } from '@gantry/contract/api-tokens';
import { DAY_MS } from '@gantry/contract/durations';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { ConfirmDialog } from '../form/form-dialog.tsx';
import { useNotices } from '../notices/notices.tsx';
import { Failure } from '../service/failure.tsx';
import { queryClient } from '../service/queries.ts';
import { api, service } from '../service/service.ts';
import { Moment } from '../time/moment.tsx';
import { useNow } from '../time/use-time.ts';

/** A token that expires within this time is marked, in milliseconds. */
const SOON_MS = 14 * DAY_MS;

/** The API tokens of a user, which can be revoked. @param userId the signed-in user if omitted */
export function TokenList({ userId }: { readonly userId?: string }) {
  const { t } = useTranslation('account');
  const { say } = useNotices();
  const [revoking, setRevoking] = useState<ApiToken | null>(null);
  const { data, error, refetch } = useQuery(
    service.apiTokens.getAll.queryOptions(userId === undefined ? {} : { userId }),
  );
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton rows={2} />;
  if (data.length === 0) return <p className="p-3 text-muted">{t('tokens.none')}</p>;
  return (
    <>
      <ul aria-label={t('tokens.title')}>
        {data.map((token) => (
          <li key={token.id} className="flex items-center gap-3 border-b px-3 py-2 last:border-b-0">
            <TokenFacts token={token} />
            <Button
              aria-label={t('tokens.revokeOf', { name: token.name })}
              onClick={() => setRevoking(token)}
            >
              {t('tokens.revoke')}
            </Button>
          </li>
        ))}
      </ul>
      {revoking && (
        <ConfirmDialog
          title={t('tokens.revokeTitle')}
          action={t('tokens.revoke')}
          run={() => api.apiTokens.revoke.mutate({ id: revoking.id })}
          onDone={() => {
            setRevoking(null);
            say(t('tokens.revoked'));
            void queryClient.invalidateQueries({ queryKey: service.apiTokens.pathKey() });
          }}
          onClose={() => setRevoking(null)}
        >
          <p className="wrap-anywhere">
            <bdi>{t('tokens.revokeText', { name: revoking.name })}</bdi>
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

function TokenFacts({ token }: { readonly token: ApiToken }) {
  const { t } = useTranslation(['account', 'common']);
  const now = useNow(60_000);
  const { name, role, prefix, createdAt, expiresAt, lastUsedAt } = token;
  const left = expiresAt.getTime() - now;
  return (
    <div className="min-w-0 grow">
      <p className="flex min-w-0 flex-wrap items-center gap-x-2">
        <bdi className="one-line max-w-full font-medium">{name}</bdi>
        <code dir="ltr" className="font-mono text-sm text-muted">
          {prefix}…
        </code>
        <span className="text-muted">{t(`common:roles.${role}`)}</span>
        {left <= 0 && (
          <Badge tone="critical" icon="failure">
            {t('tokens.expired')}
          </Badge>
        )}
        {left > 0 && left < SOON_MS && (
          <Badge tone="medium" icon="high">
            {t('tokens.soon')}
          </Badge>
        )}
      </p>
      <p className="text-sm text-muted">
        {t('tokens.created')} <Moment at={createdAt} as="date" /> ·{' '}
        {lastUsedAt ? (
          <>
            {t('tokens.lastUsed')} <Moment at={lastUsedAt} as="ago" />
          </>
        ) : (
          t('tokens.neverUsed')
        )}{' '}
        · {t('tokens.expires')} <Moment at={expiresAt} as="date" />
      </p>
    </div>
  );
}
