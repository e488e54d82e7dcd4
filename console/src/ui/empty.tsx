import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

/**
 * Shown in place of an empty list: there is nothing yet (with the first step to take), or no row matches the filters
 * (with a button to clear them). A failed request is shown as `Failure`, and a missing permission as `NotAllowed`.
 */
export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <div className="mx-auto flex w-full max-w-xl flex-col items-center gap-2 px-4 py-12 text-center">
      <Icon name={icon} size={28} className="text-muted" />
      <p className="text-lg font-semibold">{title}</p>
      {children && <div className="max-w-full text-muted">{children}</div>}
      {action}
    </div>
  );
}

/** Shown when no row matches the filters. */
export function NoMatch({ title, onClear }: { readonly title: string; readonly onClear: () => void }) {
  const { t } = useTranslation('common');
  return (
    <Empty icon="filter" title={title} action={<Button onClick={onClear}>{t('filters.clear')}</Button>} />
  );
}
