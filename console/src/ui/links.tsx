import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import { classes } from './classes.ts';
import { Icon, type IconName } from './icon.tsx';

interface LinkButtonProps extends ComponentProps<'a'> {
  readonly icon: IconName;
}

function Anchor({ icon, children, ...rest }: LinkButtonProps) {
  return (
    <a
      {...rest}
      className="inline-flex min-h-8 items-center gap-1.5 rounded-md border border-line-strong bg-raised px-3 hover:bg-hover print:hidden pointer-coarse:min-h-11"
    >
      <Icon name={icon} /> {children}
    </a>
  );
}

/** A link to another page that looks like a button. */
export const LinkButton = createLink(Anchor);

function BackAnchor(props: ComponentProps<'a'>) {
  return (
    <a
      {...props}
      className="-ms-1 me-1 inline-flex size-8 items-center justify-center rounded-md align-middle hover:bg-hover print:hidden pointer-coarse:size-11"
    >
      <Icon name="previous" size={20} />
    </a>
  );
}

/** The arrow before the title of a page, which links to the list; `aria-label` must be set. */
export const BackLink = createLink(BackAnchor);

/** The classes of a link to a part of a page, in the page header. @param isOpen whether that part is shown */
export function partLook(isOpen: boolean): string {
  return classes(
    'inline-flex min-h-8 items-center rounded-md px-3 whitespace-nowrap pointer-coarse:min-h-11',
    isOpen ? 'bg-selected font-medium text-text' : 'text-muted hover:bg-hover',
  );
}
