import type { KeyboardEvent } from 'react';

/**
 * Submits a form on Ctrl+Enter or ⌘+Enter, because Enter alone inserts a new line in a text area. As with Enter,
 * nothing is submitted while the submit button is disabled, for example while a request is pending.
 */
export function sendWithKeys(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.currentTarget.querySelector<HTMLButtonElement>('[type=submit]')?.click();
}
