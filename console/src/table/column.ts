import { tableFeatures } from '@tanstack/react-table';
import type { ReactNode } from 'react';
import type { Cell } from '../chart/table.ts';

/** Of the library's features none is needed: the service sorts and filters. */
export const features = tableFeatures({});

/** One column of a table. */
export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** What a file of the list has for it; absent: the column is not in files. */
  readonly csv?: (row: Row) => Cell;
  /** By what the service sorts for this column; absent: it cannot. */
  readonly sortBy?: string;
  /** CSS width; absent: an equal share of what the others leave. A share of the list (`cqi`) bounds it on a phone. */
  readonly width?: string;
  /** Figures stand at the end of their column. */
  readonly isFigure?: boolean;
  /** Left out where the list is narrower than about 770 pixels, as beside a pane on a small screen. */
  readonly from?: 'medium';
  /** Left out where the list is narrower than about 1,000 pixels. */
  readonly wideOnly?: boolean;
  /** Left out where the list is as narrow as a phone. */
  readonly notNarrow?: boolean;
}

/** The classes that leave a column out where the list is too narrow for it. */
export function shownFrom({
  wideOnly,
  from,
  notNarrow,
}: Pick<Column<never>, 'wideOnly' | 'from' | 'notNarrow'>): string {
  if (wideOnly) return '@max-5xl:hidden';
  if (from === 'medium') return '@max-3xl:hidden';
  return notNarrow ? '@max-xl:hidden' : '';
}

/** The classes that show something only where a column with these widths is left out. */
export function shownWithout({
  wideOnly,
  from,
}: Pick<Column<never>, 'wideOnly' | 'from' | 'notNarrow'>): string {
  if (wideOnly) return '@5xl:hidden';
  return from === 'medium' ? '@3xl:hidden' : '@xl:hidden';
}
