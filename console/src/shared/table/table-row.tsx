import type { MouseEvent, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { classes } from '../../ui/classes.ts';

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
export function TableRow({
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
