import type { SpeedStudyOfPlace, StudyComparison } from '@gantry/contract/figures';
import type { StudyWithFigures } from '@gantry/contract/studies';
import { useTranslation } from 'react-i18next';
import { CardFrame } from '../../../../shared/chart/card-frame.tsx';
import { useCellText } from '../../../../shared/chart/use-cell-text.ts';
import { useZoneNote } from '../../../../shared/chart/use-zone-note.ts';
import type { Cell, ChartTable } from '../../../../shared/csv/csv.ts';
import { ScrolledTable } from '../../../../ui/scrolled-table.tsx';
import { Reason } from '../reasons.tsx';
import { type FigureRow, figureRows } from '../speed-figures.tsx';
import { useNumbers } from '../use-numbers.ts';

type Figures = Omit<SpeedStudyOfPlace, 'timezone'>;

/** The figures of a study of speeds; of a comparison, those of both sides, and whether they differ. */
export function SpeedFigures({ study }: { readonly study: StudyWithFigures }) {
  const { t } = useTranslation('studies');
  const textOf = useCellText();
  const { range, placeName, kind } = study;
  const zone = useZoneNote(range.startDate, range.endDate);
  const sides =
    kind === 'COMPARISON'
      ? (({ before, after }) => [before, after])(study.figures as unknown as StudyComparison)
      : [study.figures as unknown as Figures];
  const [first] = sides;
  const table = useSpeedTable(sides);
  const title = t(`signing.kinds.${kind}`);
  return (
    <CardFrame
      {...{ title, table, zone }}
      subject={placeName}
      n={sides.map(({ n }) => textOf(n, { header: '', kind: 'number' })).join(' / ')}
    >
      {first?.reason && (
        <p>
          <Reason text={first.reason} />
        </p>
      )}
      <ScrolledTable
        label={title}
        className="max-h-none"
        head="bg-surface"
        columns={table.columns.map((column, at) => ({
          header: column.header,
          isFigure: at > 0 && at <= sides.length,
          className: 'border-b',
          cell: (row: (typeof table.rows)[number]) => textOf(row[at] ?? null, column),
        }))}
        rows={table.rows}
        keyOf={(row) => String(row[0])}
      />
      {kind === 'COMPARISON' && <Verdicts figures={study.figures as unknown as StudyComparison} />}
    </CardFrame>
  );
}

/** The figures of each side; the rows are those of the side that has most. */
function useSpeedTable(sides: readonly Figures[]): ChartTable {
  const { t } = useTranslation('studies');
  const { share } = useNumbers();
  const all = sides.map((side) => figureRows(side, t));
  const [longest = []] = all.toSorted((a, b) => b.length - a.length);
  const cellOf = (row: FigureRow | undefined): Cell =>
    row?.kind === 'share' ? share(row.value) : (row?.value ?? null);
  return {
    columns: [
      { header: t('signing.figure'), kind: 'text' },
      ...sides.map((_, at) => ({
        header: t(sides.length === 1 ? 'howLabels.value' : at === 0 ? 'signing.before' : 'signing.after'),
        kind: 'number' as const,
        digits: 1,
      })),
      { header: t('file.unit'), kind: 'text' },
    ],
    rows: longest.map(({ name, unit }) => [
      name,
      ...all.map((rows) => cellOf(rows.find((row) => row.name === name))),
      unit,
    ]),
  };
}

/** Whether before and after differ, in words. */
function Verdicts({ figures }: { readonly figures: StudyComparison }) {
  const { t, i18n } = useTranslation('studies');
  const number = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 4 });
  const all = [
    ['mean', figures.mean],
    ['share', figures.share],
    ['v85', figures.v85],
  ] as const;
  return (
    <ul className="flex flex-col gap-1">
      {all.map(([name, { difference, p, significant, reason }]) => (
        <li key={name}>
          <span className="font-medium">{t(`signing.compared.${name}`)}</span>:{' '}
          {significant === null || difference === null || p === null ? (
            reason ? (
              <Reason text={reason} />
            ) : (
              '–'
            )
          ) : (
            t(significant ? 'signing.compared.differs' : 'signing.compared.same', {
              difference: number.format(difference),
              p: number.format(p),
            })
          )}
        </li>
      ))}
    </ul>
  );
}
