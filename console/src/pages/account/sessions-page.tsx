import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { ExportSessions, SessionList } from '../../shared/users/session-list.tsx';

/** The sessions of the current user. */
export function SessionsPage() {
  const { t } = useTranslation('session');
  return (
    <>
      <PageHeader title={t('sessions.title')}>
        <ExportSessions title={t('sessions.title')} />
      </PageHeader>
      <div className="min-h-0 grow overflow-y-auto px-4 py-3">
        <div className="flex max-w-3xl flex-col gap-3">
          <p className="text-muted">{t('sessions.text')}</p>
          <div className="rounded-md border bg-surface">
            <SessionList />
          </div>
        </div>
      </div>
    </>
  );
}
