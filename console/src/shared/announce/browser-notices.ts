import { createStored } from '../../ui/stored.ts';

/** Whether the user wants notifications of the browser for what is announced while no tab of the console is visible. */
const stored = createStored<boolean>('notifications', false, (value) => typeof value === 'boolean');

/** Whether they are shown: the user wants them, and the browser allows them. */
export function useBrowserNotices(): boolean {
  return stored.use() && isAllowed();
}

/** Whether the browser has them and the user has not forbidden them. They require HTTPS, except on this computer. */
export function canNotify(): boolean {
  return 'Notification' in globalThis && isSecureContext && Notification.permission !== 'denied';
}

/** Switches them on or off. The browser asks for the permission, which it does only in response to a click. */
export async function setBrowserNotices(on: boolean): Promise<void> {
  if (on && Notification.permission === 'default') await Notification.requestPermission();
  stored.set(on && isAllowed());
}

/**
 * Shows a notification, if the page is not visible. Those of several tabs with the same tag are one.
 * @param open is called when it is clicked
 */
export function notifyBrowser(text: string, tag: string, open: () => void): void {
  if (!stored.get() || !isAllowed() || document.visibilityState === 'visible') return;
  const shown = new Notification('Gantry', { body: text, tag, icon: '/icon.svg' });
  shown.addEventListener('click', () => {
    window.focus();
    open();
    shown.close();
  });
}

function isAllowed(): boolean {
  return 'Notification' in globalThis && Notification.permission === 'granted';
}
