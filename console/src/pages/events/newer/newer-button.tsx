import { useTranslation } from 'react-i18next';
import { Button } from '../../../ui/button.tsx';
import { Key } from '../../../ui/shortcut-sheet.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';

/** Shows how many new events there are. They are loaded on click only, so that rows do not move under the pointer. */
export function NewerButton({ count, onShow }: { readonly count: number; readonly onShow: () => void }) {
  const { t, i18n } = useTranslation('events');
  useShortcuts([{ keys: 'n', label: t('newer.show'), scope: 'page', run: () => count > 0 && onShow() }]);
  return (
    <span role="status" aria-live="polite">
      {count > 0 && (
        <Button
          kind="primary"
          icon="ascending"
          onClick={onShow}
          aria-label={t('newer.label', { count, n: count.toLocaleString(i18n.language) })}
        >
          <span className="figures">
            {t('newer.count', { count, n: count.toLocaleString(i18n.language) })}
          </span>
          <span className="text-text pointer-coarse:hidden" aria-hidden="true">
            <Key name="n" />
          </span>
        </Button>
      )}
    </span>
  );
}
