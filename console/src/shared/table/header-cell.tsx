import { classes } from '../../ui/classes.ts';
import { Icon } from '../../ui/icon.tsx';
import { type Column, shownFrom } from './column.tsx';

/** The `sortBy` value and the direction in which the service sorts. */
export interface Sort {
  readonly by: string;
  readonly order: 'asc' | 'desc';
}

interface HeaderCellProps<Row> {
  readonly column: Column<Row>;
  readonly isFirst: boolean;
  /** Whether rows have a checkbox before their first cell. */
  readonly isSelectable: boolean;
  readonly sort: Sort | undefined;
  readonly onSort: ((sort: Sort) => void) | undefined;
}

/** The header of a column, with a button if the column is sortable. */
export function HeaderCell<Row>({ column, isFirst, isSelectable, sort, onSort }: HeaderCellProps<Row>) {
  const { header, isHeaderHidden, sortBy, isFigure } = column;
  const isSorted = sort !== undefined && sortBy !== undefined && sort.by === sortBy;
  const turned = isSorted && sort.order === 'desc' ? 'asc' : 'desc';
  return (
    <th
      scope="col"
      aria-sort={isSorted ? (sort.order === 'asc' ? 'ascending' : 'descending') : undefined}
      className={classes(
        'h-9 border-b px-2 text-sm font-medium text-muted last:pe-4',
        isFirst && (isSelectable ? '@max-xl:ps-4' : 'ps-4'),
        isFigure ? 'text-end' : 'text-start',
        shownFrom(column),
      )}
    >
      {sortBy !== undefined && onSort ? (
        <button
          type="button"
          className="inline-flex max-w-full items-center gap-1 hover:text-text"
          onClick={() => onSort({ by: sortBy, order: turned })}
        >
          <span className="one-line">{header}</span>
          {isSorted && <Icon name={sort.order === 'asc' ? 'ascending' : 'descending'} size={14} />}
        </button>
      ) : (
        <span className={isHeaderHidden ? 'sr-only' : 'one-line block'}>{header}</span>
      )}
    </th>
  );
}
