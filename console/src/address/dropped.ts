import { useEffect, useSyncExternalStore } from 'react';

/** Names in the address of a page that it did not understand. */
interface Dropped {
  readonly path: string;
  readonly names: readonly string[];
}

let dropped: Dropped = { path: '', names: [] };
const listeners = new Set<() => void>();

/** Notes that parts of the address were left out. The router then shows the address without them. */
export function noteDropped(names: readonly string[]): void {
  if (names.length === 0) return;
  const path = location.pathname;
  const before = dropped.path === path ? dropped.names : [];
  setDropped({ path, names: [...new Set([...before, ...names])] });
}

/** The user has seen it, or has left the page. */
export function forgetDropped(): void {
  setDropped({ path: '', names: [] });
}

/** What was left out of the address of this page. */
export function useDropped(path: string): readonly string[] {
  const current = useSyncExternalStore(subscribe, () => dropped);
  // On the way to another page, the router has that page read the parameters of this one. Here they are understood.
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
  // The router may be asked in the midst of rendering.
  queueMicrotask(() => {
    for (const listener of listeners) listener();
  });
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}
