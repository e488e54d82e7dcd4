import { Link } from '@tanstack/react-router';
import { Bell } from '../../shared/announce/announcer.tsx';
import { ConnectionDot } from '../../shared/live/connection-dot.tsx';
import { useFactorMissing } from '../../shared/session/factor-missing.ts';
import { Clock } from '../../shared/time/clock.tsx';
import { Search } from '../search/search.tsx';
import { UserMenu } from './user-menu.tsx';

/** The top bar: search, unseen announcements, clock, state of the connection, and user menu. */
export function TopBar() {
  const isRefused = useFactorMissing();
  return (
    <header className="flex items-center gap-2 border-b bg-surface px-3 py-1.5 print:hidden">
      <Link to="/" className="flex items-center gap-2 rounded-md pe-2 font-semibold">
        <img src="/icon.svg" alt="" className="size-6" />
        <span className="max-sm:sr-only">Gantry</span>
      </Link>
      {!isRefused && <Search />}
      <div className="ms-auto flex items-center gap-3">
        <Bell />
        <Clock />
        {!isRefused && <ConnectionDot />}
        <UserMenu />
      </div>
    </header>
  );
}
