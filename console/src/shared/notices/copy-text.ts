/**
 * Copies a text to the clipboard. Browsers provide the clipboard API only to pages loaded over HTTPS or from localhost;
 * elsewhere a selected text area is copied with `execCommand`.
 * @throws Error if the browser refuses to copy
 */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.readOnly = true;
  area.setAttribute('aria-hidden', 'true');
  area.style.position = 'fixed';
  area.style.opacity = '0';
  // The text area must be inside an open dialog, because the dialog traps the focus.
  const focused = document.activeElement;
  (focused?.closest('[role="dialog"]') ?? document.body).append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!done) throw new Error('The browser does not let this page copy');
}
