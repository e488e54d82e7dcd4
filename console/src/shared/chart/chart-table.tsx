import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import type { Cell, ChartColumn, ChartTable as Table } from '../csv/table.ts';
import { useCellText } from './use-cell-text.ts';

/** Rows shown at first, and rows added by each click on the button below. The file always has all of them. */
const FIRST = 200;
const MORE = 1_000;

const isFigure = ({ kind }: ChartColumn): boolean => kind === 'number' || kind === 'share';

/** The figures of a chart as a table, for users who cannot see the chart or prefer the figures. */
export function ChartTable({ label, table }: { readonly label: string; readonly table: Table }) {
  const { t, i18n } = useTranslation('chart');
  const textOf = useCellText();
  const [shown, setShown] = useState(FIRST);
  const { columns, rows } = table;
  const rest = rows.length - shown;
  const cell = (value: Cell, column: ChartColumn | undefined) => column && textOf(value, column);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a named section would be a second landmark
    <div
      role="group"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
      tabIndex={0}
      className="max-h-96 overflow-auto rounded border"
    >
      <table className="w-full border-separate border-spacing-0">
        <caption className="sr-only">{label}</caption>
        <thead className="sticky top-0 bg-surface">
          <tr>
            {columns.map((column) => (
              <th
                key={column.header}
                scope="col"
                className={classes(
                  'border-b px-2 py-1.5 text-sm font-medium whitespace-nowrap text-muted',
                  isFigure(column) ? 'text-end' : 'text-start',
                )}
              >
                <bdi>{column.header}</bdi>
                {column.unit && <span className="font-normal"> ({column.unit})</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a chart are not reordered
            <tr key={at} className="hover:bg-hover">
              <th scope="row" className="border-b px-2 py-1 text-start font-normal whitespace-nowrap">
                <bdi className="figures line-clamp-1 max-w-72">{cell(row[0] ?? null, columns[0])}</bdi>
              </th>
              {row.slice(1).map((value, next) => {
                const column = columns[next + 1];
                return (
                  <td
                    key={column?.header ?? next}
                    className={classes(
                      'border-b px-2 py-1 whitespace-nowrap',
                      column && isFigure(column) && 'figures text-end',
                    )}
                  >
                    <bdi>{cell(value, column)}</bdi>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {rest > 0 && (
        <Button kind="quiet" className="m-1" onClick={() => setShown(shown + MORE)}>
          {t('moreRows', { count: rest, n: rest.toLocaleString(i18n.language) })}
        </Button>
      )}
    </div>
  );
}
