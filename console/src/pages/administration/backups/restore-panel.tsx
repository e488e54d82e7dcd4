import type { BackupsPage } from '@gantry/contract/backups';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../../shared/notices/copy-button.tsx';
import { Panel } from '../../../ui/panel.tsx';

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
