import type { Backup, BackupsPage as BackupList } from '@gantry/contract/backups';
import { HOUR_MS } from '@gantry/contract/durations';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { sizeText } from '../../../shared/locale/size-text.ts';
import { CopyButton } from '../../../shared/notices/copy-button.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { queryClient } from '../../../shared/service/queries.ts';
import { api, service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { useNow, useTime } from '../../../shared/time/use-time.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Facts, Panel } from '../../../ui/panel.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { StateBadge } from '../state-badge.tsx';

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
            images: number(backup.pictures),
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
      {backup.recipients !== null && (
        <p className="text-sm text-muted">
          <Encryption recipients={backup.recipients} />
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

/** Whether a backup is encrypted, and the public keys of those who can decrypt it. */
function Encryption({ recipients }: { readonly recipients: readonly string[] }) {
  const { t } = useTranslation('administration');
  if (recipients.length === 0) return t('backups.notEncrypted');
  return (
    <>
      {t('backups.encryptedFor')}{' '}
      {recipients.map((recipient) => (
        <bdi key={recipient} className="me-2 font-mono wrap-anywhere">
          {recipient}
        </bdi>
      ))}
    </>
  );
}

/** The age of the newest backup, when the next is due, how many are kept, and in which folder. */
function BackupStatusPanel({ page }: { readonly page: BackupList }) {
  const { t, i18n } = useTranslation('administration');
  const now = useNow(60_000);
  const { settings, lastCompletedAt } = page;
  return (
    <Panel title={t('backups.latest')}>
      <div className="flex flex-col gap-3">
        {lastCompletedAt ? (
          <p className="flex flex-wrap items-center gap-x-3">
            <Moment at={lastCompletedAt} as="ago" className="text-xl font-semibold" />
            {isOld(lastCompletedAt, settings?.schedule ?? null, now) && (
              <Badge tone="high" icon="high" filled>
                {t('backups.old')}
              </Badge>
            )}
          </p>
        ) : (
          <p>
            <Badge tone="high" icon="high" filled>
              {t('backups.never')}
            </Badge>
          </p>
        )}
        {settings ? (
          <Facts
            facts={[
              [
                t('backups.next'),
                settings.nextAt ? <Moment key="next" at={settings.nextAt} /> : t('backups.nextManual'),
              ],
              [t('backups.keep'), t('backups.keepText', { n: settings.keep.toLocaleString(i18n.language) })],
              [
                t('backups.folder'),
                <bdi key="folder" className="font-mono">
                  {settings.folder}
                </bdi>,
              ],
              [
                t('backups.encryption'),
                <span key="encryption">
                  <Encryption recipients={settings.recipients} />
                  {settings.recipients.length === 0 && (
                    <span className="block text-sm text-muted">
                      {t('backups.encryptText', { setting: '\u2066BACKUP_ENCRYPT_TO\u2069' })}
                    </span>
                  )}
                </span>,
              ],
            ]}
          />
        ) : (
          <div className="rounded-md border border-medium bg-medium-surface p-3">
            <p className="font-medium">{t('backups.unset')}</p>
            <p>
              {t('backups.unsetText', {
                dir: '\u2066BACKUP_DIR\u2069',
                schedule: '\u2066BACKUP_SCHEDULE\u2069',
                keep: '\u2066BACKUP_KEEP\u2069',
              })}
            </p>
          </div>
        )}
      </div>
    </Panel>
  );
}

const DAY_HOURS = 24;
/** Maximum age without a schedule: a week. */
const MANUAL_HOURS = 7 * DAY_HOURS;
/** Factor on the interval, because a backup may start late and take long. */
const LATE = 1.5;

/** Whether the newest backup is older than its schedule allows. @param schedule as in `BACKUP_SCHEDULE`; null: none */
function isOld(lastCompletedAt: Date, schedule: string | null, now: number): boolean {
  const hours = /^(\d+)h$/.exec(schedule ?? '')?.[1];
  const isDaily = schedule?.includes(':') ?? false;
  const most = hours !== undefined ? Number(hours) * LATE : isDaily ? DAY_HOURS * LATE : MANUAL_HOURS;
  return now - lastCompletedAt.getTime() > most * HOUR_MS;
}

/** What stands in the command for the file that decrypts the backup. */
const IDENTITY = 'gantry-backup.key';

function RestorePanel({ page }: { readonly page: BackupList }) {
  const { t } = useTranslation('administration');
  const newest = page.backups.find(({ status }) => status === 'COMPLETED');
  const folder = newest?.folder ?? page.settings?.folder ?? 'FOLDER';
  // A path of these characters needs no quotes in any shell.
  const isEncrypted = (newest?.recipients ?? []).length > 0;
  const command = `gantry restore ${isEncrypted ? `--identity ${IDENTITY} ` : ''}${/^[\w./:@-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`}`;
  return (
    <Panel title={t('backups.restore')}>
      <div className="flex flex-col gap-3">
        <p>{t('backups.restoreText')}</p>
        <div className="flex items-center gap-2">
          <code dir="ltr" className="min-w-0 grow rounded-md bg-hover p-2 font-mono wrap-anywhere select-all">
            {command}
          </code>
          <CopyButton text={command} label={t('copy')} />
        </div>
        {isEncrypted && (
          <p className="text-sm text-muted">
            {t('backups.identityText', { file: `\u2066${IDENTITY}\u2069` })}
          </p>
        )}
      </div>
    </Panel>
  );
}
