import { type ComponentProps, cloneElement, type ReactElement } from 'react';
import type { Anchored } from './anchored.ts';
import { later } from './load-code.ts';
import type { PopoverFrameProps } from './popover-frame.tsx';

const usePopoverFrame = later(async () => (await import('./popover-frame.tsx')).PopoverFrame);

interface PopoverProps extends PopoverFrameProps {
  /** The button that opens the popover. */
  readonly trigger: ReactElement<ComponentProps<'button'>>;
  /** The open state, from `useAnchored`. */
  readonly anchored: Anchored;
}

/** A small form that opens under a button, without blocking the page. */
export function Popover({ trigger, ...rest }: PopoverProps) {
  const { button, open, onClick } = rest.anchored;
  const PopoverFrame = usePopoverFrame(open);
  return (
    <>
      {cloneElement(trigger, { ref: button, 'aria-haspopup': 'dialog', 'aria-expanded': open, onClick })}
      {PopoverFrame && <PopoverFrame {...rest} />}
    </>
  );
}
