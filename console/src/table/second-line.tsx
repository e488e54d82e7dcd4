import type { ReactNode } from 'react';
import { classes } from '../ui/classes.ts';
import { type Column, shownWithout } from './column.ts';

interface SecondLineProps extends Pick<Column<never>, 'wideOnly' | 'from' | 'notNarrow'> {
  readonly children: ReactNode;
}

/** What a cell says below its text where the columns for it, which have the same widths, are left out. Rows become no higher. */
export function SecondLine({ children, ...widths }: SecondLineProps) {
  return (
    <span className={classes('one-line block text-xs leading-tight! text-muted', shownWithout(widths))}>
      {children}
    </span>
  );
}
