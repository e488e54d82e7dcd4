import { type ComponentType, useEffect, useState } from 'react';
import { loadCode, reloadOnce } from '../service/load-code.ts';

/** After this time what is loaded later is loaded anyway, in milliseconds, so that it is there when the service is not. */
const ANYWAY_MS = 10_000;
/** What could not be loaded is tried again after this. */
const AGAIN_MS = 1_000;

/**
 * A component that the first view of a page does without. It is loaded when it is wanted for the first time, or soon after
 * the page, so that it is there after an upgrade of the service, which has other files. If it is wanted and cannot be loaded,
 * the console is reloaded once.
 * @returns a hook, which gives the component, or null until it is loaded
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
