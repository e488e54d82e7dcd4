import { Popover as Base } from '@base-ui/react/popover';
import type { ReactNode } from 'react';
import type { Anchored } from './anchored.ts';
import { classes } from './classes.ts';

export interface PopoverFrameProps {
  readonly anchored: Anchored;
  readonly label: string;
  readonly align: 'start' | 'end';
  readonly className?: string;
  readonly children: ReactNode;
}

/** The overlay of `Popover`, in a module that is loaded later. */
export function PopoverFrame({ anchored, label, align, className, children }: PopoverFrameProps) {
  const { button, open, onOpenChange } = anchored;
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Positioner anchor={button} sideOffset={4} align={align} className="z-40">
          <Base.Popup
            data-open
            role="dialog"
            aria-label={label}
            finalFocus={button}
            className={classes('gap-3 rounded-md border bg-raised p-3 shadow-xl', className)}
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
