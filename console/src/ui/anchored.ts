import { type KeyboardEvent, type RefObject, useRef, useState } from 'react';

/** Why something under a button closes, as Base UI says it. */
interface Closing {
  readonly event: Event;
}

/** What opens under a button. */
export interface Anchored {
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly open: boolean;
  readonly setOpen: (open: boolean) => void;
  /** For Base UI's `onOpenChange`: a press of the button itself is the button's business. */
  readonly onOpenChange: (open: boolean, closing: Closing) => void;
  readonly onClick: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** Keeps whether something under a button is open. The button is there before the rest is loaded, and stays the same. */
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
