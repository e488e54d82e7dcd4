import { Link, Outlet, useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { AlertMonitor } from '../../shared/announce/alert-monitor.tsx';
import { Announcer } from '../../shared/announce/announcer.tsx';
import { ConnectionBanner, useIsStale } from '../../shared/live/connection-dot.tsx';
import { useFollowing } from '../../shared/live/use-live.ts';
import { unsent } from '../../shared/offline/stored.ts';
import { useTitle } from '../../shared/page/title.ts';
import { api } from '../../shared/service/service.ts';
import { useFactorMissing, useSessionEnded } from '../../shared/session/flags.ts';
import {
  currentSession,
  expiryOf,
  homeOf,
  keepSession,
  useSession,
  useUser,
} from '../../shared/session/session.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { useNow, useTime } from '../../shared/time/use-time.ts';
import { useZone } from '../../shared/time/zone.ts';
import { DroppedNotice } from '../../shared/url/dropped.tsx';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Icon } from '../../ui/icon.tsx';
import { later } from '../../ui/load-code.ts';
import { ShortcutSheet } from '../../ui/shortcut-sheet.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { createStored } from '../../ui/stored.ts';
import { loadPageTexts } from '../locale/texts.ts';
import { NewLogEntry } from './new-log-entry.tsx';
import { pages, usePagesOfUser } from './pages.ts';
import { TopBar } from './top-bar.tsx';

/** The frame of every page of a signed-in user. Redirects to the sign-in page when the session ends. */
export function Shell() {
  const session = useSession();
  const navigate = useNavigate();
  const isSignedIn = session !== null;
  useEffect(() => {
    if (!isSignedIn) void navigate({ to: '/sign-in', replace: true });
  }, [isSignedIn, navigate]);
  // Everything is remounted when the user changes, which may happen in another tab.
  return session && <SignedInShell key={session.user.id} />;
}

function SignedInShell() {
  const { t } = useTranslation('shell');
  const { kiosk } = useSearch({ from: '/shell' });
  const isStale = useIsStale();
  useFollowing();
  useKeepAlive();
  useGoTo();
  useFactorFirst();
  usePageTitle();
  return (
    <div className={classes('flex h-dvh flex-col print:block print:h-auto', kiosk && 'text-lg')}>
      <a
        href="#main"
        className="fixed start-2 top-2 z-50 print:hidden -translate-y-20 rounded-md bg-accent px-3 py-2 text-on-accent focus:translate-y-0"
      >
        {t('skip')}
      </a>
      {!kiosk && <TopBar />}
      <ConnectionBanner />
      {!kiosk && <Unsent />}
      <div className="flex min-h-0 grow flex-col sm:flex-row print:block">
        {!kiosk && <Navigation />}
        <main
          id="main"
          tabIndex={-1}
          className={classes(
            'flex min-h-0 min-w-0 grow flex-col outline-none print:block',
            isStale && 'stale',
          )}
        >
          <PrintHead />
          <DroppedNotice />
          <Outlet />
        </main>
      </div>
      {!kiosk && <NewLogEntry />}
      <AlertMonitor />
      <Announcer />
      <ShortcutSheet />
      <Ended />
      <Tips />
    </div>
  );
}

const useEndedDialog = later(async () => (await import('../../pages/sign-in/sign-in-page.tsx')).SessionEnded);

/** The sign-in dialog over the page, once the session has ended. */
function Ended() {
  const SessionEnded = useEndedDialog(useSessionEnded());
  return SessionEnded && <SessionEnded />;
}

const useFocusTip = later(async () => (await import('../../ui/focus-tip.tsx')).FocusTip);

function Tips() {
  const FocusTip = useFocusTip(true);
  return FocusTip && <FocusTip />;
}

const useOutboxMonitor = later(async () => {
  await loadPageTexts('mine');
  return (await import('../../shared/offline/outbox-monitor.tsx')).OutboxMonitor;
});

/** What the user has written and not sent. It is loaded at once in the field, and if there is something. */
function Unsent() {
  const { id, role } = useUser();
  const OutboxMonitor = useOutboxMonitor(homeOf(role) === '/mine' || (unsent.use()[id] ?? 0) > 0);
  return OutboxMonitor && <OutboxMonitor />;
}

/** On paper, what names the service, the user, the time of printing and the time zone of all times. */
function PrintHead() {
  const user = useUser();
  const now = useNow(60_000);
  const zone = useZone();
  const time = useTime();
  return (
    <p className="hidden gap-x-4 border-b px-4 py-2 text-sm text-muted print:flex">
      <span className="grow font-semibold">Gantry</span>
      <bdi>{`${user.firstName} ${user.lastName}`}</bdi>
      <Moment at={new Date(now)} />
      <bdi dir="ltr">{`${zone} (${time.offset(new Date(now))})`}</bdi>
    </p>
  );
}

/** Names the page in the title of the document as the navigation names it. */
function usePageTitle(): void {
  const { t } = useTranslation('shell');
  const path = useLocation({ select: ({ pathname }) => pathname });
  const page = pages.find(({ to }) => path === to || (to !== '/' && path.startsWith(`${to}/`)));
  useTitle(
    'page',
    page ? t(`pages.${page.name}`) : path.startsWith('/account') ? t('user.account') : undefined,
  );
}

/** Redirects users who have to set up a second factor to the account page, where they do so. */
function useFactorFirst(): void {
  const navigate = useNavigate();
  const isMissing = useFactorMissing();
  const isThere = useLocation({ select: ({ pathname }) => pathname === '/account' });
  useEffect(() => {
    if (isMissing && !isThere) void navigate({ to: '/account', replace: true });
  }, [isMissing, isThere, navigate]);
}

/** Registers the shortcuts to the pages: `g` followed by the key of the page. */
function useGoTo(): void {
  const { t } = useTranslation('shell');
  const navigate = useNavigate();
  useShortcuts(
    usePagesOfUser().map(({ to, name, key }) => ({
      keys: `g ${key}`,
      label: t('goTo', { page: t(`pages.${name}`) }),
      scope: 'everywhere' as const,
      run: () => void navigate({ to }),
    })),
  );
}

/** A token is refreshed after this share of its remaining lifetime, and after a failure, of what remains then. */
const SHARE = 0.5;
const MIN_MS = 60_000;

/** Refreshes the token before it expires. One tab does it for all tabs of the browser. */
function useKeepAlive(): void {
  const token = useSession()?.token;
  useEffect(() => {
    const expiry = token === undefined ? null : expiryOf(token);
    if (expiry === null) return;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const plan = () => {
      const left = expiry - Date.now();
      if (isOver || left <= 0) return;
      timer = setTimeout(() => void exchange(token).then(plan), Math.max(MIN_MS, left * SHARE));
    };
    plan();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [token]);
}

async function exchange(token: string | undefined): Promise<void> {
  const work = async () => {
    if (currentSession()?.token !== token) return;
    const fresh = await api.auth.refreshToken.mutate();
    // Meanwhile the user may have signed out, or another user signed in.
    if (currentSession()?.token === token) keepSession({ token: fresh.token, user: fresh.user });
  };
  // A failure, such as while the service cannot be reached, is retried before the token expires.
  await (navigator.locks?.request('gantry.token', work) ?? work()).catch(() => undefined);
}

const collapsed = createStored('navigation', false, (value) => typeof value === 'boolean');

/** The links to the pages: a sidebar on wide screens, a bar at the bottom of narrow ones. */
function Navigation() {
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
