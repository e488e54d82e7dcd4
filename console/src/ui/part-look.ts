import { classes } from './classes.ts';

/** The classes of a link to a part of a page, in the page header. @param isOpen whether that part is shown */
export function partLook(isOpen: boolean): string {
  return classes(
    'inline-flex min-h-8 items-center rounded-md px-3 whitespace-nowrap pointer-coarse:min-h-11',
    isOpen ? 'bg-selected font-medium text-text' : 'text-muted hover:bg-hover',
  );
}
