import type { KeyboardEvent } from 'react';

/**
 * Sends a form with Ctrl+Enter or ⌘+Enter, because Enter alone is a new line in an area of text. As with Enter, nothing is
 * sent while its button is disabled, such as when it is being sent already.
 */
export function sendWithKeys(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.currentTarget.querySelector<HTMLButtonElement>('[type=submit]')?.click();
}
