import type { ReactNode } from 'react';
import { classes } from '../../ui/classes.ts';
import { type Column, shownWithout } from './column.ts';

interface SecondLineProps extends Pick<Column<never>, 'wideOnly' | 'from' | 'notNarrow'> {
  readonly children: ReactNode;
}

/** A second line in a cell, shown where the columns with the same width settings are hidden. Rows keep their height. */
export function SecondLine({ children, ...widths }: SecondLineProps) {
  return (
    <span className={classes('one-line block text-xs leading-tight! text-muted', shownWithout(widths))}>
      {children}
    </span>
  );
}
