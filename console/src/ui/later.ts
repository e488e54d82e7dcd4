import { type ComponentType, useEffect, useState } from 'react';
import { loadCode, reloadOnce } from './load-code.ts';

/** Delay after which a component is loaded in any case, in milliseconds: the service may be down when it is wanted. */
const ANYWAY_MS = 10_000;
/** Delay before a failed load is retried, in milliseconds. */
const AGAIN_MS = 1_000;

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
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
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
