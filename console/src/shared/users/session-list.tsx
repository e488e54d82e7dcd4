import type { Session } from '@gantry/contract/auth';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { TipText } from '../../ui/tip-text.tsx';
import { ConfirmDialog } from '../form/form-dialog.tsx';
import { useNotices } from '../notices/notices.tsx';
import { Failure } from '../service/failure.tsx';
import { queryClient } from '../service/queries.ts';
import { api, service } from '../service/service.ts';
import type { ExportColumn } from '../table/export.ts';
import { ExportButton } from '../table/export-button.tsx';
import { Moment } from '../time/moment.tsx';
import { deviceOf } from './device.ts';

/** The sessions of a user, and buttons that end them. @param userId absent: the current user */
export function SessionList({ userId }: { readonly userId?: string }) {
  const { t } = useTranslation('session');
  const { say } = useNotices();
  const [ending, setEnding] = useState<Session | null>(null);
  const {
    data: sessions,
    error,
    refetch,
  } = useQuery(service.auth.getSessions.queryOptions(userId === undefined ? {} : { userId }));
  if (error && !sessions) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!sessions) return <Skeleton rows={3} />;
  if (sessions.length === 0) return <p className="p-3 text-muted">{t('sessions.none')}</p>;
  return (
    <>
      <ul>
        {sessions.map((session) => (
          <li key={session.id} className="flex items-center gap-3 border-b px-3 py-2 last:border-b-0">
            <div className="min-w-0 grow">
              <p className="flex flex-wrap items-center gap-x-2">
                {session.userAgent === null ? (
                  t('sessions.unknown')
                ) : (
                  <TipText tip={session.userAgent}>
                    {deviceOf(session.userAgent) ?? t('sessions.unknown')}
                  </TipText>
                )}
                {session.ipAddress !== null && <bdi className="figures text-muted">{session.ipAddress}</bdi>}
                {session.current && (
                  <Badge tone="good" icon="good">
                    {t('sessions.current')}
                  </Badge>
                )}
              </p>
              <p className="text-sm text-muted">
                {t('sessions.started')} <Moment at={session.startedAt} /> · {t('sessions.seen')}{' '}
                <Moment at={session.lastSeenAt} as="ago" />
              </p>
            </div>
            {!session.current && <Button onClick={() => setEnding(session)}>{t('sessions.end')}</Button>}
          </li>
        ))}
      </ul>
      {ending && (
        <ConfirmDialog
          title={t('sessions.endTitle')}
          action={t('sessions.end')}
          run={() => api.auth.revokeSession.mutate({ id: ending.id })}
          onDone={() => {
            setEnding(null);
            say(t('sessions.ended'));
            void queryClient.invalidateQueries({ queryKey: service.auth.getSessions.pathKey() });
          }}
          onClose={() => setEnding(null)}
        >
          <p>{t('sessions.endText')}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** A button that exports the sessions of a user as CSV. @param userId absent: the current user */
export function ExportSessions({ userId, title }: { readonly userId?: string; readonly title: string }) {
  const { t } = useTranslation('session');
  const input = userId === undefined ? {} : { userId };
  const { data } = useQuery(service.auth.getSessions.queryOptions(input));
  const columns: readonly ExportColumn<Session>[] = [
    { header: t('sessions.device'), csv: ({ userAgent }) => deviceOf(userAgent) ?? t('sessions.unknown') },
    { header: t('sessions.program'), csv: ({ userAgent }) => userAgent },
    { header: t('sessions.address'), csv: ({ ipAddress }) => ipAddress },
    { header: t('sessions.started'), csv: ({ startedAt }) => startedAt },
    { header: t('sessions.lastUsed'), csv: ({ lastSeenAt }) => lastSeenAt },
  ];
  return (
    <ExportButton
      title={title}
      columns={columns}
      pages={{
        total: data?.length ?? null,
        keyOf: ({ id }) => id,
        load: async (_page, signal) => {
          const rows = await api.auth.getSessions.query(input, { signal });
          return { rows, total: rows.length };
        },
      }}
    />
  );
}
