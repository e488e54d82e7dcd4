import type { ReactNode } from 'react';
import { classes } from './classes.ts';

interface TableColumn<Row> {
  /** Names it. */
  readonly header: string;
  /** The header is said to screen readers and not shown. */
  readonly hideHeader?: boolean;
  /** Figures stand at the end of the line. */
  readonly isFigure?: boolean;
  /** Of its cells. */
  readonly className?: string;
  /** Of its cells and its header, such as its width. */
  readonly shown?: string;
  /** Of figures and codes, which run from left to right in every language. */
  readonly isLeftToRight?: boolean;
  readonly cell: (row: Row) => ReactNode;
}

interface ScrolledTableProps<Row> {
  readonly label: string;
  readonly columns: readonly (TableColumn<Row> | false)[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Of the head, which stays while the rows scroll: the surface on which the table is. */
  readonly head: 'bg-surface' | 'bg-raised';
  readonly className?: string;
}

/** A short table inside a page, which scrolls by itself. Its rows cannot be chosen; long lists have `DataTable`. */
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
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
      tabIndex={0}
      className={classes('max-h-72 overflow-auto', className)}
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
