import type { Backup } from '@gantry/contract/backups';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { sizeText } from '../../../shared/locale/size-text.ts';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { queryClient } from '../../../shared/service/queries.ts';
import { api, service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { useTime } from '../../../shared/time/use-time.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { StateBadge } from '../state-badge.tsx';
import { BackupStatusPanel, RestorePanel } from './backup-status-panel.tsx';

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
              <BackupStatusPanel page={data} />
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

/** A backup, with its progress while it is running. */
function BackupItem({ backup }: { readonly backup: Backup }) {
  const { t, i18n } = useTranslation('administration');
  const time = useTime();
  const { status, origin, startedBy, startedAt, finishedAt, progress, name, error, lackingPictures } = backup;
  const number = (n: number | null) => (n ?? 0).toLocaleString(i18n.language);
  const size = (n: number | null) => sizeText(n ?? 0, i18n.language);
  const starter = origin === 'COMMAND' ? t('backups.command') : t('backups.schedule');
  const part = new Intl.NumberFormat(i18n.language, { style: 'percent' }).format(progress);
  return (
    <li className="flex flex-col gap-1 border-b px-3 py-2 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <StateBadge state={`runStatus.${status}`} />
        <Moment at={startedAt} />
        <span className="text-muted">{startedBy ? <bdi>{startedBy.name}</bdi> : starter}</span>
        {finishedAt && (
          <span className="figures text-muted">
            {time.duration(finishedAt.getTime() - startedAt.getTime())}
          </span>
        )}
      </div>
      {status === 'RUNNING' && (
        <div className="flex items-center gap-3">
          <progress
            aria-label={t('backups.progress')}
            value={progress}
            max={1}
            className="h-2 w-full max-w-md accent-accent"
          />
          <span className="figures text-sm text-muted">{part}</span>
        </div>
      )}
      {status === 'COMPLETED' && (
        <p className="text-muted">
          {t('backups.made', {
            events: number(backup.events),
            size: size(backup.bytes),
            pictures: number(backup.pictures),
            newSize: size(backup.newPictureBytes),
          })}
        </p>
      )}
      {lackingPictures !== null && lackingPictures > 0 && (
        <p>
          <Badge tone="high" icon="high">
            {t('backups.lacking', { count: lackingPictures, n: number(lackingPictures) })}
          </Badge>
        </p>
      )}
      {name !== null && (
        <p className="text-sm text-muted">
          <bdi className="font-mono wrap-anywhere">{name}</bdi>
        </p>
      )}
      {error !== null && (
        <p className="text-critical">
          <bdi className="wrap-anywhere">{error}</bdi>
        </p>
      )}
    </li>
  );
}
