import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useShortcuts } from '../../ui/shortcuts.tsx';

interface SelectionOptions<Row> {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The row that the shortcut `x` toggles. */
  readonly activeKey: string | null | undefined;
  /** Whether the user can do anything with selected rows; otherwise there are no shortcuts. Default: yes. */
  readonly isOffered?: boolean;
}

/** The selection of a list: single rows, ranges, or all loaded rows. */
export function useSelection<Row>({ rows, keyOf, activeKey, isOffered = true }: SelectionOptions<Row>) {
  const { t } = useTranslation('common');
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string | null>(null);
  const toggle = (key: string, range: boolean) => {
    const keys = rows.map(keyOf);
    const start = last.current ?? activeKey;
    const [from, to] = [start ? keys.indexOf(start) : -1, keys.indexOf(key)];
    const next = new Set(selected);
    if (range && from >= 0) {
      for (const each of keys.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(each);
    } else if (!next.delete(key)) next.add(key);
    last.current = key;
    setSelected(next);
  };
  const clear = () => setSelected(new Set());
  const keys = [
    { keys: 'x', label: t('table.select'), run: () => activeKey && toggle(activeKey, false) },
    { keys: 'Shift+x', label: t('table.selectRange'), run: () => activeKey && toggle(activeKey, true) },
  ];
  useShortcuts(isOffered ? keys.map((key) => ({ ...key, scope: 'page' })) : []);
  return {
    selected,
    toggle: (row: Row, range: boolean) => toggle(keyOf(row), range),
    selectAll: () => setSelected(new Set(rows.map(keyOf))),
    clear,
  };
}
