import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { ConnectionDot, useIsStale } from '../../shared/live/connection-dot.tsx';
import { Clock } from '../../shared/time/clock.tsx';
import { Icon } from '../../ui/icon.tsx';

/** The header of the wall display: the time, the connection state, and a link to leave kiosk mode. */
export function KioskBar() {
  const { t } = useTranslation('overview');
  useLargeType();
  return (
    <header className="flex flex-wrap items-center gap-x-4 border-b bg-surface px-4 py-2">
      <h1 className="grow text-xl font-semibold">{t('title')}</h1>
      <Clock />
      <ConnectionDot />
      <Link
        to="/"
        search={{}}
        aria-label={t('kiosk.leave')}
        title={t('kiosk.leave')}
        className="grid size-9 place-items-center rounded-md text-muted hover:bg-hover pointer-coarse:size-11"
      >
        <Icon name="close" />
      </Link>
    </header>
  );
}

/** Enlarges the page: all sizes are relative to the font size of the root element. */
function useLargeType(): void {
  useEffect(() => {
    const { style } = document.documentElement;
    style.fontSize = '125%';
    return () => {
      style.fontSize = '';
    };
  }, []);
}

/** Hatches the wall display while the connection is broken, because viewers are too far away to read the banner. */
export function StaleHatching() {
  if (!useIsStale()) return null;
  return <div aria-hidden="true" className="stale pointer-events-none fixed inset-0 z-30 opacity-100!" />;
}
