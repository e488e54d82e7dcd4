import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { saveFile } from '../service/files.ts';
import { Button } from '../ui/button.tsx';
import { csvOf } from './csv.ts';
import { fileNameOf } from './file-name.ts';
import type { Cell, ChartTable } from './table.ts';
import { useCellText } from './use-cell-text.ts';
import { useZoneNote } from './use-zone-note.ts';

interface ShareTableProps {
  readonly title: string;
  readonly subject: string;
  readonly n: string;
  readonly from: Date;
  readonly until: Date;
  /** A name first, and then figures. */
  readonly table: ChartTable;
  /** Said when there are no rows. */
  readonly none: string;
}

/** Counts by name with a bar for each: a chart that is a table. */
export function ShareTable({ title, subject, n, from, until, table, none }: ShareTableProps) {
  const { t } = useTranslation('chart');
  const textOf = useCellText();
  const headline = useId();
  const zone = useZoneNote(from, until);
  const { columns, rows } = table;
  const counted = t('n', { n });
  const most = Math.max(1, ...rows.map((row) => Number(row[1] ?? 0)));
  const save = () => {
    const facts = [title, subject, t('zoneFact', { zone: zone.text }), counted];
    saveFile(
      new Blob([csvOf(table, zone.zone, facts)], { type: 'text/csv;charset=utf-8' }),
      `${fileNameOf(title, subject)}.csv`,
    );
  };
  return (
    <section
      aria-labelledby={headline}
      className="flex min-w-0 flex-col gap-2 rounded-md border bg-raised p-3"
    >
      <header className="flex flex-wrap items-start gap-x-3 gap-y-1">
        <div className="min-w-0 grow basis-48">
          <h2 id={headline} className="text-lg font-semibold wrap-anywhere">
            {title}
          </h2>
          <p className="figures text-sm text-muted">
            <bdi dir="ltr">{zone.text}</bdi> · <bdi>{counted}</bdi>
          </p>
        </div>
        <Button
          kind="quiet"
          icon="download"
          aria-label={t('saveCsv', { title })}
          title={t('saveCsv', { title })}
          onClick={save}
        >
          CSV
        </Button>
      </header>
      {rows.length === 0 ? (
        <p className="text-muted">{none}</p>
      ) : (
        <section
          aria-label={title}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
          tabIndex={0}
          className="max-h-80 overflow-y-auto"
        >
          <table className="w-full table-fixed border-separate border-spacing-0">
            <thead>
              <tr className="text-sm text-muted">
                {columns.map(({ header, kind }, at) => (
                  <th
                    key={header}
                    scope="col"
                    className={`border-b px-2 pb-1 font-medium ${kind === 'text' ? 'text-start' : 'w-28 text-end'} ${at === 0 ? 'w-auto' : ''}`}
                  >
                    <bdi className="line-clamp-2">{header}</bdi>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={String(row[0])}>
                  <th scope="row" className="border-b px-2 py-1 text-start font-normal">
                    <bdi className="one-line block">{String(row[0])}</bdi>
                    <div className="mt-0.5 h-1 bg-hover" aria-hidden="true">
                      <div
                        className="h-full bg-low"
                        style={{ width: `${(100 * Number(row[1] ?? 0)) / most}%` }}
                      />
                    </div>
                  </th>
                  {row.slice(1).map((cell: Cell, at) => {
                    const column = columns[at + 1];
                    return (
                      <td key={column?.header ?? at} className="figures border-b px-2 py-1 text-end">
                        <bdi>{column && textOf(cell, column)}</bdi>
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}
