import { useLocation } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { forgetDropped, useDropped } from './dropped.ts';

/** Lists the query parameters that the page did not understand and dropped from the URL. */
export function DroppedNotice() {
  const { t } = useTranslation('common');
  const names = useDropped(useLocation().pathname);
  if (names.length === 0) return null;
  return (
    <p role="status" className="flex items-center gap-2 border-b bg-medium-surface px-4 py-1">
      <Icon name="medium" className="text-medium" />
      <span className="grow">
        {t('address.dropped')} <bdi className="line-clamp-1 font-mono">{names.join(', ')}</bdi>
      </span>
      <Button kind="quiet" icon="close" iconOnly aria-label={t('dialog.close')} onClick={forgetDropped} />
    </p>
  );
}
