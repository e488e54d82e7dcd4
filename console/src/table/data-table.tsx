import { type ColumnDef, FlexRender, tableFeatures, useTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import { Failure } from '../service/failure.tsx';
import { classes } from '../ui/classes.ts';
import { Skeleton, ThinBar } from '../ui/skeleton.tsx';
import { HeaderCell, type Sort } from './header-cell.tsx';
import type { Pages } from './pages.ts';
import { TableRow } from './table-row.tsx';

/** One column of a table. */
export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** By what the service sorts for this column; absent: it cannot. */
  readonly sortBy?: string;
  /** CSS width; absent: an equal share of what the others leave. */
  readonly width?: string;
  /** Figures stand at the end of their column. */
  readonly isFigure?: boolean;
  /** Left out on narrow screens. */
  readonly wideOnly?: boolean;
}

interface DataTableProps<Row> {
  /** What the table holds, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly pages: Pick<Pages<Row>, 'rows' | 'total' | 'isPending' | 'isFetching' | 'error' | 'refetch'> &
    Partial<Pages<Row>>;
  readonly keyOf: (row: Row) => string;
  readonly sort?: Sort;
  readonly onSort?: (sort: Sort) => void;
  /** The row under the cursor of the keyboard, or whose details are shown. */
  readonly activeKey?: string | null;
  readonly onActivate?: (row: Row) => void;
  readonly selected?: ReadonlySet<string>;
  /** @param range whether everything from the last one on is meant */
  readonly onSelect?: (row: Row, range: boolean) => void;
  /** Shown where there are no rows: why, and what to do. */
  readonly empty: ReactNode;
}

const features = tableFeatures({});
const ROW_HEIGHT = 37;
/** Rows kept ready beyond both ends of what is seen: more than one turn of a wheel. */
const OVERSCAN = 20;

/** The table of all lists: virtual rows, sorted by the service, with a cursor and a selection. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, pages, keyOf, sort, onSort, activeKey, selected, onSelect, empty } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const definitions = useMemo<ColumnDef<typeof features, Row & object>[]>(
    () =>
      columns.map(({ id, header, cell }) => ({ id, header, cell: ({ row }) => cell(row.original as Row) })),
    [columns],
  );
  const table = useTable({
    features,
    columns: definitions,
    data: pages.rows as (Row & object)[],
    getRowId: (row) => keyOf(row as Row),
  });
  const rows = table.getRowModel().rows;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    getItemKey: (at) => rows[at]?.id ?? at,
  });
  const seen = virtual.getVirtualItems();
  const last = seen.at(-1)?.index ?? 0;
  const { hasMore, loadMore } = pages;
  useEffect(() => {
    if (hasMore && last >= rows.length - 60) loadMore?.();
  }, [hasMore, last, rows.length, loadMore]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the cursor moves the list, new rows do not
  useEffect(() => {
    const at = activeKey ? rows.findIndex(({ id }) => id === activeKey) : -1;
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' });
  }, [activeKey]);

  if (pages.error && rows.length === 0) {
    return (
      <div className="p-4">
        <Failure error={pages.error} onRetry={pages.refetch} />
      </div>
    );
  }
  if (pages.isPending) return <Skeleton rows={14} />;
  if (rows.length === 0) return empty;
  const before = seen[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (seen.at(-1)?.end ?? 0);
  return (
    <>
      <ThinBar active={pages.isFetching} />
      <section
        ref={scroller}
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        tabIndex={0}
        className="min-h-0 grow overflow-auto contain-strict"
      >
        <table
          className="w-full table-fixed border-separate border-spacing-0"
          aria-rowcount={pages.total ?? -1}
        >
          <colgroup>
            {onSelect && <col className="w-9" />}
            {columns.map(({ id, width, wideOnly }) => (
              <col key={id} style={{ width }} className={classes(wideOnly && 'max-md:hidden')} />
            ))}
          </colgroup>
          <thead className="sticky top-0 z-10 bg-surface">
            <tr>
              {onSelect && <td className="border-b" />}
              {columns.map((column) => (
                <HeaderCell key={column.id} column={column} sort={sort} onSort={onSort} />
              ))}
            </tr>
          </thead>
          <tbody>
            {before > 0 && <tr style={{ height: before }} />}
            {seen.map(({ index }) => {
              const row = rows[index];
              if (!row) return null;
              return (
                <TableRow
                  key={row.id}
                  rowKey={row.id}
                  position={index + 1}
                  isActive={row.id === activeKey}
                  isSelected={selected?.has(row.id) ?? false}
                  onActivate={() => props.onActivate?.(row.original as Row)}
                  onSelect={onSelect && ((range) => onSelect(row.original as Row, range))}
                >
                  {row.getAllCells().map((cell, at) => (
                    <td
                      key={cell.id}
                      className={classes(
                        'one-line border-b px-2 align-middle',
                        columns[at]?.isFigure && 'figures text-end',
                        columns[at]?.wideOnly && 'max-md:hidden',
                      )}
                    >
                      <FlexRender cell={cell} />
                    </td>
                  ))}
                </TableRow>
              );
            })}
            {after > 0 && <tr style={{ height: after }} />}
          </tbody>
        </table>
      </section>
    </>
  );
}
