import type { Session } from '@gantry/contract/auth';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, service } from '../service/service.ts';
import type { ExportColumn } from '../table/export.ts';
import { ExportButton } from '../table/export-button.tsx';
import { deviceOf } from './device.ts';

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
