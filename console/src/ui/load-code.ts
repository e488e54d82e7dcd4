import { type ComponentType, useEffect, useState } from 'react';

let isKnownBroken = (): boolean => false;

/** Says how to tell, without a request, that the service cannot be reached. */
export function setBrokenCheck(check: () => boolean): void {
  isKnownBroken = check;
}

/** How often to check whether the service can be reached again, in milliseconds. */
const AGAIN_MS = 1_000;

/**
 * Loads a lazy part of the console. If the service cannot be reached, it waits until it can. After a failed dynamic
 * import, a browser does not try the module again until the page is reloaded, and the router would reload the page at
 * once: while the service is down, that would replace the console with the browser's error page.
 */
export async function loadCode<Code>(load: () => Promise<Code>): Promise<Code> {
  // A service worker may have the part.
  if (isKnownBroken() && !navigator.serviceWorker?.controller) await untilServed();
  try {
    return await load();
  } catch {
    await untilServed();
    return load();
  }
}

/** Reloads the console because a part cannot be loaded, such as after an upgrade; once per error message and tab. */
function reloadOnce(error: unknown): void {
  const key = `gantry.reloaded ${error instanceof Error ? error.message : ''}`;
  if (sessionStorage.getItem(key) !== null) return;
  sessionStorage.setItem(key, 'true');
  location.reload();
}

let waiting: Promise<void> | null = null;

/** Waits until the files can be loaded. All parts that are waited for share one series of checks. */
function untilServed(): Promise<void> {
  waiting ??= checkUntilServed().finally(() => {
    waiting = null;
  });
  return waiting;
}

async function checkUntilServed(): Promise<void> {
  while (!(await isServed())) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
}

/** Whether the files of the console can be loaded. Tests with a small file, past the HTTP cache. */
async function isServed(): Promise<boolean> {
  try {
    const { ok } = await fetch('/icon.svg', { cache: 'no-store' });
    return ok;
  } catch {
    return false;
  }
}

/** Delay after which a component is loaded in any case, in milliseconds: the service may be down when it is wanted. */
const ANYWAY_MS = 10_000;
/** Delay before a failed load is retried, in milliseconds. */
const RETRY_MS = 1_000;

/**
 * A component that the first render of a page does not need. It is loaded when it is first wanted, or 10 s after the
 * page, so that it is available after an upgrade of the service, which replaces the files. If it is wanted and cannot
 * be loaded, the console is reloaded once.
 * @returns a hook that returns the component, or null until it is loaded
 */
export function later<Props>(
  load: () => Promise<ComponentType<Props>>,
): (isWanted: boolean) => ComponentType<Props> | null {
  let loaded: ComponentType<Props> | null = null;
  let loading: Promise<void> | null = null;
  let isAsked = false;
  const tryLoading = async () => {
    while (loaded === null) {
      try {
        loaded = await loadCode(load);
      } catch (error) {
        if (isAsked) reloadOnce(error);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  };
  const start = () => {
    loading ??= tryLoading();
    return loading;
  };
  setTimeout(start, ANYWAY_MS);
  return (isWanted) => {
    const [, setLoaded] = useState(loaded !== null);
    useEffect(() => {
      if (!isWanted || loaded !== null) return;
      isAsked = true;
      void start().then(() => setLoaded(true));
    }, [isWanted]);
    return loaded;
  };
}
