import { useRouter } from '@tanstack/react-router';
import { type ColumnDef, useTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
} from 'react';
import { useTranslation } from 'react-i18next';
import { useIsPrinting } from '../../ui/print-copy.ts';
import { Skeleton, ThinBar } from '../../ui/skeleton.tsx';
import { Failure } from '../service/failure.tsx';
import { type Column, features, shownFrom } from './column.tsx';
import { DataRow } from './data-row.tsx';
import { HeaderCell, type Sort } from './header-cell.tsx';
import type { Pages } from './pages.ts';

export type { Column };

interface DataTableProps<Row> {
  /** The name of the list for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly pages: Pick<Pages<Row>, 'rows' | 'total' | 'isPending' | 'isFetching' | 'error' | 'refetch'> &
    Partial<Omit<Pages<Row>, 'load' | 'keyOf'>>;
  readonly keyOf: (row: Row) => string;
  readonly sort?: Sort;
  readonly onSort?: (sort: Sort) => void;
  /** The row at the keyboard cursor, or whose details are shown. */
  readonly activeKey?: string | null;
  readonly onActivate?: (row: Row) => void;
  readonly selected?: ReadonlySet<string>;
  /** What a row shows, for the label of its checkbox; required if rows can be selected. */
  readonly nameOf?: (row: Row) => string;
  /** Whether nothing is left to do about a row, whose text is muted then. */
  readonly isDone?: (row: Row) => boolean;
  /** @param range whether to select all rows from the last toggled one to this one */
  readonly onSelect?: (row: Row, range: boolean) => void;
  /** Ctrl+A, while the focus is inside the list. */
  readonly onSelectAll?: () => void;
  /** Shown if there are no rows: the reason, and what the user can do. */
  readonly empty: ReactNode;
}

/** In pixels, larger on touch screens; the same as in `TableRow`. */
const ROW_HEIGHT = matchMedia('(pointer: coarse)').matches ? 44 : 37;
/** Rows rendered beyond each end of the visible range: more than one turn of a mouse wheel. */
const OVERSCAN = 20;
/** Maximum number of rows that are printed. */
const MAX_PRINTED = 2_000;
/** The next page is requested when fewer than this many rows are left below the rendered ones. */
const AHEAD = 60;

/** The table of all lists: virtual rows, sorted by the service, with a cursor and a selection. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, pages, sort, onSort, activeKey, selected, onSelect, onSelectAll, empty } = props;
  const { t, i18n } = useTranslation('common');
  const { scroller, rendered, first, before, after } = useVirtualRows(props);
  const commands = useRef(props);
  commands.current = props;
  const activate = useCallback((row: Row) => commands.current.onActivate?.(row), []);
  const select = useCallback((row: Row, range: boolean) => commands.current.onSelect?.(row, range), []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.key !== 'a' || !onSelectAll) return;
    event.preventDefault();
    onSelectAll();
  };

  if (pages.error && pages.rows.length === 0) {
    return (
      <div className="p-4">
        <Failure error={pages.error} onRetry={pages.refetch} />
      </div>
    );
  }
  if (pages.isPending) return <Skeleton rows={14} />;
  if (pages.rows.length === 0) return empty;
  return (
    <>
      <ThinBar active={pages.isFetching} />
      {Boolean(pages.error) && !pages.moreError && (
        <div className="px-4 py-2">
          <Failure error={pages.error} onRetry={pages.refetch} />
        </div>
      )}
      <section
        ref={scroller}
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
        tabIndex={0}
        data-list
        onKeyDown={onKeyDown}
        className="@container min-h-0 grow overflow-auto contain-strict print:contain-none"
      >
        <table
          className="w-full table-fixed border-separate border-spacing-0"
          aria-rowcount={pages.total === null ? -1 : pages.total + 1}
        >
          <colgroup>
            {onSelect && <col className="w-10 @max-xl:hidden" />}
            {columns.map((column) => (
              <col key={column.id} style={{ width: column.width }} className={shownFrom(column)} />
            ))}
          </colgroup>
          <thead className="sticky top-0 z-10 bg-surface">
            <tr aria-rowindex={1}>
              {onSelect && <td className="border-b @max-xl:hidden" />}
              {columns.map((column, at) => (
                <HeaderCell
                  key={column.id}
                  column={column}
                  isFirst={at === 0}
                  isSelectable={onSelect !== undefined}
                  sort={sort}
                  onSort={onSort}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {before > 0 && <tr style={{ height: before }} className="print:hidden" />}
            {rendered.map((row, at) => (
              <DataRow
                key={row.id}
                row={row}
                columns={columns as readonly Column<Row & object>[]}
                position={first + at + 2}
                isActive={row.id === activeKey}
                isSelected={selected?.has(row.id) ?? false}
                isSelectable={onSelect !== undefined}
                nameOf={props.nameOf}
                isDone={props.isDone?.(row.original) ?? false}
                onActivate={activate}
                onSelect={select}
              />
            ))}
            {after > 0 && <tr style={{ height: after }} className="print:hidden" />}
          </tbody>
        </table>
        <p className="figures hidden px-4 py-2 text-sm text-muted print:block">
          {t('table.printed', {
            n: rendered.length.toLocaleString(i18n.language),
            of: (pages.total ?? pages.rows.length).toLocaleString(i18n.language),
          })}
        </p>
        {Boolean(pages.moreError) && (
          <div className="p-4">
            <Failure error={pages.moreError} onRetry={pages.retryMore} />
          </div>
        )}
      </section>
    </>
  );
}

/**
 * The rows to render: those in view and some beyond. Asks for the next page near the end, and keeps the row at the
 * cursor in view.
 */
function useVirtualRows<Row>({
  columns,
  pages,
  keyOf,
  activeKey,
}: Pick<DataTableProps<Row>, 'columns' | 'pages' | 'keyOf' | 'activeKey'>) {
  const scroller = useRef<HTMLDivElement>(null);
  const definitions = useMemo<ColumnDef<typeof features, Row & object>[]>(
    () =>
      columns.map(({ id, header, cell }) => ({ id, header, cell: ({ row }) => cell(row.original as Row) })),
    [columns],
  );
  const { rows, hasMore, loadMore, generation } = pages;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    getItemKey: (at) => keyOf(rows[at] as Row),
  });
  const isPrinting = useIsPrinting();
  const seen = virtual.getVirtualItems();
  // The table gets only the rendered rows, so that a list of 100,000 rows costs no more than one of 100.
  const first = isPrinting ? 0 : (seen[0]?.index ?? 0);
  const last = isPrinting ? Math.min(rows.length, MAX_PRINTED) - 1 : (seen.at(-1)?.index ?? -1);
  const data = useMemo(() => rows.slice(first, last + 1) as (Row & object)[], [rows, first, last]);
  const table = useTable({
    features,
    columns: definitions,
    data,
    getRowId: (row) => keyOf(row as Row),
  });
  useEffect(() => {
    if (hasMore && !isPrinting && last >= rows.length - AHEAD) loadMore?.();
  }, [hasMore, isPrinting, last, rows.length, loadMore]);
  useKeptPosition(scroller, rows.length > 0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scroll when the cursor moves, not when rows change
  useEffect(() => {
    const at = activeKey ? rows.findIndex((row) => keyOf(row) === activeKey) : -1;
    if (at >= 0 && scroller.current) keepInView(scroller.current, at);
  }, [activeKey]);
  useEffect(() => {
    if (generation) scroller.current?.scrollTo({ top: 0 });
  }, [generation]);
  return {
    scroller,
    rendered: table.getRowModel().rows,
    /** The position of the first rendered row in the list. */
    first,
    /** The heights of the rows before and after the rendered ones, in pixels. */
    before: seen[0]?.start ?? 0,
    after: virtual.getTotalSize() - (seen.at(-1)?.end ?? 0),
  };
}

/** Scrolls as little as needed. The sticky header, which is about as high as a row, covers the rows behind it. */
function keepInView(list: HTMLElement, index: number): void {
  const top = index * ROW_HEIGHT;
  const bottom = top + 2 * ROW_HEIGHT;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
}

/** The scroll position of the list, by history entry of the browser. */
const positions = new Map<string, number>();

/**
 * Restores the scroll position of a list when the user returns to its history entry. A list opened by a link starts at
 * the top.
 * @param isFilled whether the rows are loaded
 */
function useKeptPosition(list: RefObject<HTMLElement | null>, isFilled: boolean): void {
  const { history } = useRouter();
  const entry = useRef(history.location.state.__TSR_key ?? '');
  const isNew = useRef(true);
  useLayoutEffect(() => {
    if (!isFilled || !isNew.current) return;
    isNew.current = false;
    const top = positions.get(entry.current);
    if (top !== undefined) list.current?.scrollTo({ top });
  }, [isFilled, list]);
  useEffect(() => {
    const { pathname } = history.location;
    return history.subscribe(({ location: next }) => {
      positions.set(entry.current, list.current?.scrollTop ?? 0);
      // The list stays mounted if the new entry is of the same page, for example with another row open.
      if (next.pathname === pathname) entry.current = next.state.__TSR_key ?? '';
    });
  }, [history, list]);
}
