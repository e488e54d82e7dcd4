import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';

/** Shown when no row matches the filters. */
export function NoMatch({ title, onClear }: { readonly title: string; readonly onClear: () => void }) {
  const { t } = useTranslation('common');
  return (
    <Empty icon="filter" title={title} action={<Button onClick={onClear}>{t('filters.clear')}</Button>} />
  );
}
