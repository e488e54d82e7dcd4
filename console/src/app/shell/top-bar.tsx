import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Bell } from '../../shared/announce/announcer.tsx';
import { canNotify, setBrowserNotices, useBrowserNotices } from '../../shared/announce/browser-notices.ts';
import { ConnectionDot } from '../../shared/live/connection-dot.tsx';
import { type Language, languages, setLanguage } from '../../shared/locale/language.ts';
import { signOut } from '../../shared/offline/sign-out.ts';
import { unsent } from '../../shared/offline/stored.ts';
import { useFactorMissing } from '../../shared/session/flags.ts';
import { homeOf, useUser } from '../../shared/session/session.ts';
import { Clock } from '../../shared/time/clock.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { later } from '../../ui/load-code.ts';
import { Menu } from '../../ui/menu.tsx';
import { Key } from '../../ui/shortcut-sheet.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { setTheme, themes, useTheme } from '../../ui/theme.ts';
import { loadPageTexts } from '../locale/texts.ts';

/** The top bar: search, unseen announcements, clock, state of the connection, and user menu. */
export function TopBar() {
  const { role } = useUser();
  const isRefused = useFactorMissing();
  return (
    <header className="flex items-center gap-2 border-b bg-surface px-3 py-1.5 print:hidden">
      <Link to={homeOf(role)} className="flex items-center gap-2 rounded-md pe-2 font-semibold">
        <img src="/icon.svg" alt="" className="size-6" />
        <span className="max-sm:sr-only">Gantry</span>
      </Link>
      {!isRefused && <Search />}
      <div className="ms-auto flex items-center gap-3 max-sm:gap-1">
        <Bell />
        <Clock />
        {!isRefused && <ConnectionDot />}
        <UserMenu />
      </div>
    </header>
  );
}

/** The menu of the signed-in user: theme, language, account, sessions, and sign out. */
function UserMenu() {
  const { t, i18n } = useTranslation(['shell', 'common']);
  const user = useUser();
  const theme = useTheme();
  const navigate = useNavigate();
  const notifies = useBrowserNotices();
  const count = unsent.use()[user.id] ?? 0;
  const [isLeaving, setLeaving] = useState(false);
  const SignOutDialog = useSignOutDialog(isLeaving);
  const leave = () => (count > 0 ? setLeaving(true) : void signOut());
  const menu = (
    <Menu
      trigger={
        <Button kind="quiet" icon="users" aria-label={t('user.menu')}>
          <bdi className="one-line max-w-40 max-sm:hidden">{`${user.firstName} ${user.lastName}`}</bdi>
        </Button>
      }
      items={[
        {
          label: `${user.email} · ${t(`common:roles.${user.role}`)}`,
          onSelect: () => undefined,
          disabled: true,
        },
        'line',
        ...themes.map((each) => ({
          label: t(`theme.${each}`),
          icon: 'theme' as const,
          checked: each === theme,
          onSelect: () => setTheme(each),
        })),
        'line',
        ...Object.entries(languages).map(([code, name]) => ({
          label: <span lang={code}>{name}</span>,
          checked: code === i18n.language,
          onSelect: () => setLanguage(code as Language),
        })),
        'line',
        {
          label: t('user.notifications'),
          icon: 'alert',
          checked: notifies,
          disabled: !canNotify(),
          onSelect: () => void setBrowserNotices(!notifies),
        },
        { label: t('user.account'), icon: 'key', onSelect: () => void navigate({ to: '/account' }) },
        {
          label: t('user.sessions'),
          icon: 'activity',
          onSelect: () => void navigate({ to: '/account/sessions' }),
        },
        { label: t('user.signOut'), icon: 'signOut', onSelect: leave },
      ]}
    />
  );
  return (
    <>
      {menu}
      {isLeaving && SignOutDialog && (
        <SignOutDialog count={count} signOut={signOut} onClose={() => setLeaving(false)} />
      )}
    </>
  );
}

const useSignOutDialog = later(async () => {
  await loadPageTexts('mine');
  return (await import('../../shared/offline/sign-out-dialog.tsx')).SignOutDialog;
});

const useSearchDialog = later(async () => (await import('../search/search-dialog.tsx')).SearchDialog);

/** The search for plates, sensors, locations, incidents, and pages. The dialog is loaded when it is opened. */
function Search() {
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
