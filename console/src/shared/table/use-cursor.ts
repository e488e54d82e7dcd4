import { useTranslation } from 'react-i18next';
import { useShortcuts } from '../../ui/shortcuts.tsx';

interface CursorOptions<Row> {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly activeKey: string | null | undefined;
  readonly onMove: (row: Row) => void;
  readonly onOpen?: (row: Row) => void;
}

/**
 * Moves a cursor through a list with `j` and `k` or the arrow keys, and opens its row with Enter if `onOpen` is given.
 * @returns the row at the cursor and its neighbours, its index (-1: none), and a function to move the cursor
 */
export function useCursor<Row>({ rows, keyOf, activeKey, onMove, onOpen }: CursorOptions<Row>) {
  const { t } = useTranslation('common');
  const at = activeKey ? rows.findIndex((row) => keyOf(row) === activeKey) : -1;
  const moveTo = (index: number) => {
    const row = rows[Math.max(0, Math.min(index, rows.length - 1))];
    if (row) onMove(row);
  };
  const active = rows[at];
  useShortcuts([
    { keys: 'ArrowDown', label: t('table.next'), scope: 'page', run: () => moveTo(at + 1) },
    { keys: 'ArrowUp', label: t('table.previous'), scope: 'page', run: () => moveTo(at - 1) },
    { keys: 'j', label: t('table.next'), scope: 'page', run: () => moveTo(at + 1) },
    { keys: 'k', label: t('table.previous'), scope: 'page', run: () => moveTo(at - 1) },
    ...(onOpen
      ? [
          {
            keys: 'Enter',
            label: t('table.open'),
            scope: 'page' as const,
            run: () => active && onOpen(active),
          },
        ]
      : []),
  ]);
  return { active, next: rows[at + 1], previous: at > 0 ? rows[at - 1] : undefined, moveTo, at };
}
