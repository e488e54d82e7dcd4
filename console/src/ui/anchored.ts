import { type KeyboardEvent, type RefObject, useRef, useState } from 'react';

/** The details that Base UI passes to `onOpenChange`. */
interface Closing {
  readonly event: Event;
}

/** The state of an overlay that opens under a button, and the handlers of the button. */
export interface Anchored {
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly open: boolean;
  readonly setOpen: (open: boolean) => void;
  /** For Base UI's `onOpenChange`. A click or focus on the button does not close the overlay; `onClick` does. */
  readonly onOpenChange: (open: boolean, closing: Closing) => void;
  readonly onClick: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** The open state of an overlay under a button, which is rendered before the code of the overlay is loaded. */
export function useAnchored(): Anchored {
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const isOfButton = (target: EventTarget | null | undefined) =>
    target instanceof Node && button.current?.contains(target) === true;
  return {
    button,
    open,
    setOpen,
    onOpenChange(next, { event }) {
      const focused = event instanceof FocusEvent ? event.relatedTarget : null;
      if (next || !(isOfButton(event.target) || isOfButton(focused))) setOpen(next);
    },
    onClick: () => setOpen(!open),
    onKeyDown(event) {
      if (event.key !== 'ArrowDown') return;
      event.preventDefault();
      setOpen(true);
    },
  };
}
