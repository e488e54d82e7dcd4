import { FlexRender, type Row as TanStackRow } from '@tanstack/react-table';
import { memo } from 'react';
import { classes } from '../../ui/classes.ts';
import { type Column, type features, shownFrom } from './column.ts';
import { TableRow } from './table-row.tsx';

interface DataRowProps<Row extends object> {
  readonly row: TanStackRow<typeof features, Row>;
  readonly columns: readonly Column<Row>[];
  readonly position: number;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly isSelectable: boolean;
  readonly nameOf: ((row: Row) => string) | undefined;
  readonly isDone: boolean;
  /** Must call the latest handler of the table, because a new function does not re-render the row. */
  readonly onActivate: (row: Row) => void;
  readonly onSelect: (row: Row, range: boolean) => void;
}

function Cells<Row extends object>(props: DataRowProps<Row>) {
  const { row, columns, position, isActive, isSelected, isSelectable, nameOf, isDone, onActivate, onSelect } =
    props;
  return (
    <TableRow
      rowKey={row.id}
      name={nameOf?.(row.original)}
      position={position}
      isActive={isActive}
      isSelected={isSelected}
      isDone={isDone}
      onActivate={() => onActivate(row.original)}
      onSelect={isSelectable ? (range) => onSelect(row.original, range) : undefined}
    >
      {row.getAllCells().map((cell, at) => (
        <td
          key={cell.id}
          className={classes(
            'one-line border-b px-2 align-middle',
            columns[at]?.isFigure && 'figures text-end',
            at === 0 && (isSelectable ? '@max-xl:ps-4' : 'ps-4'),
            'last:pe-4',
            columns[at] && shownFrom(columns[at]),
          )}
        >
          <FlexRender cell={cell} />
        </td>
      ))}
    </TableRow>
  );
}

/** A row of a table, memoised so that scrolling renders only the rows that come into view. */
export const DataRow = memo(
  Cells,
  (one, other) =>
    one.row.original === other.row.original &&
    one.columns === other.columns &&
    one.position === other.position &&
    one.isActive === other.isActive &&
    one.isSelected === other.isSelected &&
    one.isSelectable === other.isSelectable &&
    one.nameOf === other.nameOf &&
    one.isDone === other.isDone,
) as typeof Cells;
