import type { Cell } from '../csv/csv.ts';
import { UnbrokenDays } from '../time/moment.tsx';
import { type CardFacts, CardFrame } from './card-frame.tsx';
import { useCellText } from './use-cell-text.ts';
import { useZoneNote } from './use-zone-note.ts';

/** The first column of `table` holds names, the others figures; the bars show the second column. */
interface ShareTableProps extends CardFacts {
  readonly from: Date;
  readonly until: Date;
  /** Text if there are no rows. */
  readonly none: string;
}

/** A card with a table of counts by name, with a bar in each row in place of a chart. */
export function ShareTable({ title, subject, n, from, until, table, none }: ShareTableProps) {
  const textOf = useCellText();
  const zone = useZoneNote(from, until);
  const { columns, rows } = table;
  const most = Math.max(1, ...rows.map((row) => Number(row[1] ?? 0)));
  return (
    <CardFrame {...{ title, subject, n, table, zone }}>
      {rows.length === 0 ? (
        <p className="text-muted">{none}</p>
      ) : (
        // biome-ignore lint/a11y/useSemanticElements: a named section would be a second landmark
        <div
          role="group"
          aria-label={title}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
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
                    <bdi className="line-clamp-4">
                      <UnbrokenDays text={header} />
                    </bdi>
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
        </div>
      )}
    </CardFrame>
  );
}
