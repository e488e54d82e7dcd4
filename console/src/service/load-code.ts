import { currentConnection } from '../live/connection.ts';

/** Whether the service can be reached again is examined this often, in milliseconds. */
const AGAIN_MS = 1_000;

/**
 * Loads a part of the console that is not loaded at first, once the service can be reached. A browser that could not load a
 * module does not try it again until the console is reloaded, and the router would reload it at once, which without the
 * service leaves nothing but the error page of the browser.
 */
export async function loadCode<Code>(load: () => Promise<Code>): Promise<Code> {
  if (currentConnection().state === 'broken') await untilServed();
  try {
    return await load();
  } catch {
    await untilServed();
    return load();
  }
}

/** Reloads the console because a part of it cannot be loaded, such as after an upgrade; once for each part. */
export function reloadOnce(error: unknown): void {
  const key = `gantry.reloaded ${error instanceof Error ? error.message : ''}`;
  if (sessionStorage.getItem(key) !== null) return;
  sessionStorage.setItem(key, 'true');
  location.reload();
}

async function untilServed(): Promise<void> {
  while (!(await isServed())) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
}

/** Whether the files of the console can be loaded now. */
async function isServed(): Promise<boolean> {
  try {
    const { ok } = await fetch('/icon.svg', { cache: 'no-store' });
    return ok;
  } catch {
    return false;
  }
}
