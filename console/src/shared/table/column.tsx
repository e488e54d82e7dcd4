import { tableFeatures } from '@tanstack/react-table';
import i18next from 'i18next';
import type { ComponentProps, ReactNode } from 'react';
import { classes } from '../../ui/classes.ts';
import type { Cell } from '../csv/csv.ts';
import { Moment } from '../time/moment.tsx';

/** No feature of the library is needed, because the service sorts and filters. */
export const features = tableFeatures({});

/** One column of a table. */
export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  /** Whether the header is for screen readers only, because the column is too narrow for it. */
  readonly isHeaderHidden?: boolean;
  readonly cell: (row: Row) => ReactNode;
  /** The header in a CSV file, where it differs, because the cells name their units. */
  readonly csvHeader?: string;
  /** The value of the column in a CSV file; absent: the column is not exported. */
  readonly csv?: (row: Row) => Cell;
  /** The `sortBy` value of the service for this column; absent: not sortable. */
  readonly sortBy?: string;
  /** CSS width; absent: an equal share of the remaining width. A width in `cqi` limits the column on a phone. */
  readonly width?: string;
  /** Whether the cells are numbers, which are aligned to the end of the column. */
  readonly isFigure?: boolean;
  /** Hidden if the list is narrower than about 770 pixels, for example next to a pane on a small screen. */
  readonly from?: 'medium';
  /** Hidden if the list is narrower than about 1,000 pixels. */
  readonly wideOnly?: boolean;
  /** Hidden if the list is as narrow as a phone. */
  readonly notNarrow?: boolean;
}

type Settings = Omit<Column<never>, 'id' | 'header' | 'cell' | 'csv'>;

/** A column of what a person or a device entered. */
export function textColumn<Row>(
  id: string,
  header: string,
  text: (row: Row) => string | null | undefined,
  { className, ...settings }: Settings & { readonly className?: string } = {},
): Column<Row> {
  const cell = (row: Row) => <bdi className={className}>{text(row)}</bdi>;
  return { id, header, csv: (row) => text(row) ?? null, cell, ...settings };
}

/** A column of names that the console gives in the language of the user. */
export function nameColumn<Row>(
  id: string,
  header: string,
  name: (row: Row) => string,
  settings?: Settings,
): Column<Row> {
  return { id, header, csv: name, cell: name, ...settings };
}

/** A column of numbers. */
export function figureColumn<Row>(
  id: string,
  header: string,
  figure: (row: Row) => number | null,
  settings?: Settings,
): Column<Row> {
  const cell = (row: Row) => figure(row)?.toLocaleString(i18next.language);
  return { id, header, csv: figure, cell, isFigure: true, ...settings };
}

/** Room for the longest time of any format, such as 12/30/2026 10:58:58 AM, also in the first column. */
export const TIME_WIDTH = '12.5rem';

/** A column of times, as wide as they need. `as`, and its `width`, are for another form of them. */
export function timeColumn<Row>(
  id: string,
  header: string,
  time: (row: Row) => Date | null,
  { as, ...settings }: Settings & Pick<ComponentProps<typeof Moment>, 'as'> = {},
): Column<Row> {
  const cell = (row: Row) => {
    const at = time(row);
    return at && <Moment at={at} {...(as && { as })} />;
  };
  return { id, header, csv: time, cell, ...(!as && { width: TIME_WIDTH }), ...settings };
}

/** The classes that hide a column if the list is too narrow for it. */
export function shownFrom({
  wideOnly,
  from,
  notNarrow,
}: Pick<Column<never>, 'wideOnly' | 'from' | 'notNarrow'>): string {
  if (wideOnly) return '@max-5xl:hidden';
  if (from === 'medium') return '@max-3xl:hidden';
  return notNarrow ? '@max-xl:hidden' : '';
}

/** The classes that show an element only where a column with these settings is hidden. */
function shownWithout({ wideOnly, from }: Pick<Column<never>, 'wideOnly' | 'from' | 'notNarrow'>): string {
  if (wideOnly) return '@5xl:hidden';
  return from === 'medium' ? '@3xl:hidden' : '@xl:hidden';
}

interface SecondLineProps extends Pick<Column<never>, 'wideOnly' | 'from' | 'notNarrow'> {
  readonly children: ReactNode;
}

/** A second line in a cell, shown where the columns with the same width settings are hidden. Rows keep their height. */
export function SecondLine({ children, ...widths }: SecondLineProps) {
  return (
    <span
      className={classes(
        'one-line block text-xs leading-tight! text-muted print:hidden',
        shownWithout(widths),
      )}
    >
      {children}
    </span>
  );
}
