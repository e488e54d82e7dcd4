import type { DialogProps } from './dialog-frame.tsx';
import { later } from './load-code.ts';

const useDialogFrame = later(async () => (await import('./dialog-frame.tsx')).DialogFrame);

/** Loads what dialogs need, for a page whose dialogs are opened while there is no connection. */
export function useDialogsAtHand(): void {
  useDialogFrame(true);
}

/** A modal dialog, which traps the focus until it is closed. */
export function Dialog(props: DialogProps) {
  const DialogFrame = useDialogFrame(props.open);
  return DialogFrame && <DialogFrame {...props} />;
}
