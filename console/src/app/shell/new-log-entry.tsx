import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMay } from '../../shared/session/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { later } from '../../ui/load-code.ts';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { loadPageTexts } from '../locale/texts.ts';

const useLogComposer = later(async () => {
  await loadPageTexts('log');
  return (await import('../../shared/log/log-composer.tsx')).LogComposer;
});

/** Begins an entry of the log on every page: by `n` where the page has no other use for it, and by Shift+n always. */
export function NewLogEntry() {
  const { t } = useTranslation('shell');
  const [isOpen, setOpen] = useState(false);
  const mayWrite = useMay('manageIncidents');
  const LogComposer = useLogComposer(isOpen);
  const run = () => setOpen(true);
  const label = t('newLogEntry');
  useShortcuts(
    mayWrite
      ? [
          { keys: 'n', label, run, scope: 'everywhere' },
          { keys: 'Shift+n', label, run, scope: 'everywhere' },
        ]
      : [],
  );
  if (!isOpen || !LogComposer) return null;
  return (
    <Dialog title={label} open onClose={() => setOpen(false)} width="wide">
      <LogComposer isFocused onAdded={() => setOpen(false)} />
    </Dialog>
  );
}
