import type { BackupsPage } from '@gantry/contract/backups';
import { HOUR_MS } from '@gantry/contract/durations';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../../shared/notices/copy-button.tsx';
import { Moment } from '../../../shared/time/moment.tsx';
import { useNow } from '../../../shared/time/use-time.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Facts, Panel } from '../../../ui/panel.tsx';

/** The age of the newest backup, when the next is due, how many are kept, and in which folder. */
export function BackupStatusPanel({ page }: { readonly page: BackupsPage }) {
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

/** The command that restores a backup. */
export function RestorePanel({ page }: { readonly page: BackupsPage }) {
  const { t } = useTranslation('administration');
  const newest = page.backups.find(({ status }) => status === 'COMPLETED');
  const folder = newest?.folder ?? page.settings?.folder ?? 'FOLDER';
  // A path of these characters needs no quotes in any shell.
  const command = `gantry restore ${/^[\w./:@-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`}`;
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
      </div>
    </Panel>
  );
}
