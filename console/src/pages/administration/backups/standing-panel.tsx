import type { BackupsPage } from '@gantry/contract/backups';
import { useTranslation } from 'react-i18next';
import { Moment } from '../../../shared/time/moment.tsx';
import { useNow } from '../../../shared/time/use-time.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Facts, Panel } from '../../../ui/panel.tsx';
import { isOld } from './is-old.ts';

/** The age of the newest backup, when the next is due, how many are kept, and in which folder. */
export function StandingPanel({ page }: { readonly page: BackupsPage }) {
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
