import { FlexRender, type Row as TanStackRow } from '@tanstack/react-table';
import { type MouseEvent, memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { classes } from '../../ui/classes.ts';
import { type Column, type features, shownFrom } from './column.tsx';

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

interface TableRowProps {
  readonly rowKey: string;
  /** What the row shows, in the label of its checkbox. */
  readonly name: string | undefined;
  /** The row number in the whole table; the header row is 1. */
  readonly position: number;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  /** Whether nothing is left to do about it; its text is muted. */
  readonly isDone: boolean;
  readonly onActivate: () => void;
  readonly onSelect: ((range: boolean) => void) | undefined;
  readonly children: ReactNode;
}

/** A row, with a checkbox if rows can be selected. */
function TableRow({
  rowKey,
  name,
  position,
  isActive,
  isSelected,
  isDone,
  onActivate,
  onSelect,
  children,
}: TableRowProps) {
  const { t } = useTranslation('common');
  const onClick = (event: MouseEvent) => {
    if ((event.target as HTMLElement).closest('a, button, input')) return;
    if (event.shiftKey && onSelect) onSelect(true);
    else onActivate();
  };
  return (
    <tr
      data-key={rowKey}
      aria-rowindex={position}
      aria-selected={onSelect ? isSelected : undefined}
      aria-current={isActive || undefined}
      onClick={onClick}
      // Shift+click selects a range of rows, not the text between them.
      onMouseDown={(event) => event.shiftKey && event.preventDefault()}
      className={classes(
        'h-[37px] cursor-default pointer-coarse:h-11',
        isActive ? 'bg-selected' : 'hover:bg-hover',
        isSelected && 'font-medium',
        isDone && 'text-muted',
      )}
    >
      {onSelect && (
        <td
          className={classes('border-b ps-4 @max-xl:hidden', isActive && 'border-s-2 border-s-accent ps-3.5')}
        >
          <input
            type="checkbox"
            aria-label={t('table.selectRow', { row: name })}
            checked={isSelected}
            className="block size-4 accent-accent"
            onClick={(event) => onSelect(event.shiftKey)}
            onChange={() => undefined}
          />
        </td>
      )}
      {children}
    </tr>
  );
}
