import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../../ui/icon.tsx';
import { later } from '../../ui/load-code.ts';
import { Key } from '../../ui/shortcut-sheet.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';

const useSearchDialog = later(async () => (await import('./search-dialog.tsx')).SearchDialog);

/** The search for plates, sensors, locations, incidents, and pages. The dialog is loaded when it is opened. */
export function Search() {
  const { t } = useTranslation('search');
  const [open, setOpen] = useState(false);
  const SearchDialog = useSearchDialog(open);
  useShortcuts([{ keys: '/', label: t('open'), scope: 'everywhere', run: () => setOpen(true) }]);
  return (
    <>
      <button
        type="button"
        aria-label={t('open')}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
        className="flex min-h-8 min-w-0 items-center gap-2 rounded-md border border-line-strong bg-raised px-2 text-muted hover:bg-hover sm:w-72 pointer-coarse:min-h-11 pointer-coarse:min-w-11 pointer-coarse:justify-center"
      >
        <Icon name="search" />
        <span className="one-line grow text-start max-sm:hidden">{t('search')}</span>
        <span className="max-sm:hidden" aria-hidden="true">
          <Key name="/" />
        </span>
      </button>
      {open && SearchDialog && <SearchDialog onClose={() => setOpen(false)} />}
    </>
  );
}
