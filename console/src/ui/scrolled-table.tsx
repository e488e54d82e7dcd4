import type { ReactNode } from 'react';
import { classes } from './classes.ts';

interface TableColumn<Row> {
  /** The header; it is also the key of the column. */
  readonly header: string;
  /** Makes the header visible to screen readers only. */
  readonly hideHeader?: boolean;
  /** Aligns the cells to the end, for numbers. */
  readonly isFigure?: boolean;
  readonly className?: string;
  /** The classes of the cells and the header, such as a width. */
  readonly shown?: string;
  /** For numbers and codes, which are written from left to right in every language. */
  readonly isLeftToRight?: boolean;
  readonly cell: (row: Row) => ReactNode;
}

interface ScrolledTableProps<Row> {
  readonly label: string;
  readonly columns: readonly (TableColumn<Row> | false)[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The background of the sticky header: the same as the background behind the table. */
  readonly head: 'bg-surface' | 'bg-raised';
  readonly className?: string;
}

/** A short table that scrolls on its own. Its rows cannot be selected; for long lists, use `DataTable`. */
export function ScrolledTable<Row>({
  label,
  columns,
  rows,
  keyOf,
  head,
  className,
}: ScrolledTableProps<Row>) {
  const shown = columns.filter((column) => column !== false);
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: makes the scrollable area usable with the keyboard
      tabIndex={0}
      className={classes('relative max-h-72 overflow-auto', className)}
    >
      <table className="w-full border-separate border-spacing-0">
        <thead className={`sticky top-0 ${head}`}>
          <tr>
            {shown.map((column) => (
              <th
                key={column.header}
                scope="col"
                className={classes(
                  'border-b px-2 py-1 text-sm font-medium text-muted',
                  column.isFigure ? 'text-end' : 'text-start',
                  column.shown,
                )}
              >
                {column.hideHeader ? <span className="sr-only">{column.header}</span> : column.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {shown.map((column) => (
                <td
                  key={column.header}
                  dir={column.isLeftToRight ? 'ltr' : undefined}
                  className={classes(
                    'px-2 py-1',
                    column.isFigure && 'figures text-end',
                    column.isLeftToRight && 'figures rtl:text-end',
                    column.shown,
                    column.className,
                  )}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
