import { useLocation } from '@tanstack/react-router';
import { useEffect, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';

/** The query parameters that a page did not understand. */
interface Dropped {
  readonly path: string;
  readonly names: readonly string[];
}

let dropped: Dropped = { path: '', names: [] };
const listeners = new Set<() => void>();

/** Records query parameters that were dropped. The router then removes them from the URL. */
export function noteDropped(names: readonly string[]): void {
  if (names.length === 0) return;
  const path = location.pathname;
  const before = dropped.path === path ? dropped.names : [];
  setDropped({ path, names: [...new Set([...before, ...names])] });
}

/** Called when the user closes the message, and when they leave the page. */
function forgetDropped(): void {
  setDropped({ path: '', names: [] });
}

/** The query parameters that were dropped from the URL of the page at `path`. */
function useDropped(path: string): readonly string[] {
  const current = useSyncExternalStore(subscribe, () => dropped);
  // On navigation, the router validates the parameters of this page with the next page, which drops them. This page
  // understood them, so the names recorded for it are cleared when it is left.
  useEffect(
    () => () => {
      if (dropped.path === path) forgetDropped();
    },
    [path],
  );
  return current.path === path ? current.names : [];
}

function setDropped(next: Dropped): void {
  dropped = next;
  // The router may validate parameters during rendering, when listeners must not set state.
  queueMicrotask(() => {
    for (const listener of listeners) listener();
  });
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

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
