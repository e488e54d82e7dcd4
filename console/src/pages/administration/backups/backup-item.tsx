import type { Backup } from '@gantry/contract/backups';
import { useTranslation } from 'react-i18next';
import { sizeText } from '../../../shared/locale/size-text.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { useTime } from '../../../shared/time/use-time.ts';
import { Badge } from '../../../ui/badge.tsx';
import { RunStatusBadge } from '../storage/run-status.tsx';

/** A backup, with its progress while it is running. */
export function BackupItem({ backup }: { readonly backup: Backup }) {
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
        <RunStatusBadge status={status} />
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
