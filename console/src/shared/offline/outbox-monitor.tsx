import { Link, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { useNotices } from '../notices/notices.tsx';
import { useOutbox, useWaiting } from './outbox.ts';
import { useHasNewVersion } from './shell-worker.ts';

/** Says on every page how much the user has written and not sent, and once everything is sent. */
export function OutboxMonitor() {
  const { t } = useTranslation('mine');
  const { say } = useNotices();
  const waiting = useWaiting();
  const isThere = useLocation({ select: ({ pathname }) => pathname === '/mine' });
  const refused = waiting.filter((each) => each.refused !== null).length;
  const { sent } = useOutbox();
  // Since when entries wait, by the number of those that were sent before.
  const since = useRef<number | null>(null);
  useEffect(() => {
    if (waiting.length > 0) since.current ??= sent;
    else {
      if (since.current !== null && sent > since.current) say(t('outbox.allSent'));
      since.current = null;
    }
  }, [waiting.length, sent, say, t]);
  const text =
    waiting.length === 0
      ? null
      : refused > 0
        ? t('outbox.someRefused', { count: refused })
        : t('outbox.count', { count: waiting.length });
  return (
    <div role="status" className="print:hidden">
      <NewVersion />
      {text !== null && !isThere && (
        <Link
          to="/mine"
          className="flex min-h-11 items-center gap-2 border-b bg-medium-surface px-4 py-1.5 underline"
        >
          <Icon
            name={refused > 0 ? 'failure' : 'send'}
            className={refused > 0 ? 'text-critical' : 'text-medium'}
          />
          {text}
        </Link>
      )}
    </div>
  );
}

/** Offers to load a new version of the console, once it is complete in this browser. */
function NewVersion() {
  const { t } = useTranslation('mine');
  if (!useHasNewVersion()) return null;
  return (
    <p className="flex flex-wrap items-center gap-3 border-b bg-surface px-4 py-1.5">
      {t('newVersion.text')}
      <Button icon="refresh" onClick={() => location.reload()}>
        {t('newVersion.load')}
      </Button>
    </p>
  );
}
