import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Icon } from '../../ui/icon.tsx';
import { createStored } from '../../ui/stored.ts';
import { usePagesOfUser } from './pages.ts';

const collapsed = createStored('navigation', false, (value) => typeof value === 'boolean');

/** The links to the pages: a sidebar on wide screens, a bar at the bottom of narrow ones. */
export function Navigation() {
  const { t } = useTranslation('shell');
  const isCollapsed = collapsed.use();
  const pages = usePagesOfUser();
  if (pages.length === 0) return null;
  return (
    <nav
      aria-label={t('navigation')}
      className={classes(
        'order-last flex print:hidden shrink-0 overflow-x-auto border-t bg-surface sm:order-first sm:flex-col sm:border-e sm:border-t-0 sm:p-2',
        isCollapsed ? 'sm:w-14' : 'sm:w-48',
      )}
    >
      {pages.map(({ to, name, icon }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: to === '/' }}
          title={t(`pages.${name}`)}
          className="flex min-h-11 w-20 shrink-0 grow flex-col items-center justify-center gap-0.5 rounded-md px-1 py-1.5 text-xs text-muted hover:bg-hover sm:min-h-9 sm:px-2 sm:w-auto sm:grow-0 sm:flex-row sm:justify-start sm:gap-3 sm:text-base"
          activeProps={{ className: 'bg-selected font-medium text-text!', 'aria-current': 'page' }}
        >
          <Icon name={icon} size={18} />
          <span
            className={classes(
              'max-w-full max-sm:line-clamp-2 max-sm:text-center max-sm:leading-tight sm:one-line',
              isCollapsed && 'sm:sr-only',
            )}
          >
            {t(`pages.${name}`)}
          </span>
        </Link>
      ))}
      <Button
        kind="quiet"
        icon={isCollapsed ? 'expand' : 'collapse'}
        iconOnly
        aria-label={isCollapsed ? t('expand') : t('collapse')}
        className="mt-auto hidden self-end sm:inline-flex"
        onClick={() => collapsed.set(!isCollapsed)}
      />
    </nav>
  );
}
