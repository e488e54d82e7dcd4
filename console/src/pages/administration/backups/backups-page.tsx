import { useMutation, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { queryClient } from '../../../shared/service/queries.ts';
import { api, service } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { BackupItem } from './backup-item.tsx';
import { RestorePanel } from './restore-panel.tsx';
import { StandingPanel } from './standing-panel.tsx';

const SHOWN = 50;
/** How often the list is refetched while a backup is running, and otherwise, in milliseconds. */
const PROGRESS_MS = 1_000;
const CALM_MS = 30_000;

/** The backups of the installation: the age of the newest, the result of each, and a button that starts one. */
export function BackupsPage() {
  const { t, i18n } = useTranslation('administration');
  const { say, sayFailure } = useNotices();
  const { data, error, refetch } = useQuery({
    ...service.backups.getAll.queryOptions({ take: SHOWN }),
    refetchInterval: ({ state }) =>
      state.data?.backups.some(({ status }) => status === 'RUNNING') ? PROGRESS_MS : CALM_MS,
  });
  const create = useMutation({
    mutationFn: () => api.backups.create.mutate(),
    onSuccess: () => {
      say(t('backups.started'));
      void queryClient.invalidateQueries({ queryKey: service.backups.pathKey() });
    },
    onError: sayFailure,
  });
  const isRunning = data?.backups.some(({ status }) => status === 'RUNNING') ?? false;
  return (
    <>
      <PageHeader title={t('backups.title')}>
        <Button
          icon="backup"
          disabled={!data?.settings || isRunning || create.isPending}
          onClick={() => create.mutate()}
        >
          {t('backups.now')}
        </Button>
      </PageHeader>
      <div className="flex min-h-0 grow flex-col gap-3 overflow-y-auto px-4 py-3">
        {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Skeleton rows={8} />}
        {data && (
          <>
            <div className="grid gap-3 lg:grid-cols-2">
              <StandingPanel page={data} />
              <RestorePanel page={data} />
            </div>
            <Panel title={t('backups.list')} isFull>
              {data.backups.length === 0 && <p className="p-3 text-muted">{t('backups.none')}</p>}
              <ul aria-label={t('backups.list')}>
                {data.backups.map((backup) => (
                  <BackupItem key={backup.id} backup={backup} />
                ))}
              </ul>
              {data.total > data.backups.length && (
                <p className="border-t p-3 text-sm text-muted">
                  {t('backups.newest', {
                    n: data.backups.length.toLocaleString(i18n.language),
                    total: data.total.toLocaleString(i18n.language),
                  })}
                </p>
              )}
            </Panel>
          </>
        )}
      </div>
    </>
  );
}
