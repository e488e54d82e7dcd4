import type { SpeedStudyOfPlace } from '@gantry/contract/figures';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { CardFrame } from '../../../shared/chart/card-frame.tsx';
import { GAP } from '../../../shared/chart/use-cell-text.ts';
import { useZoneNote } from '../../../shared/chart/use-zone-note.ts';
import type { Cell, ChartColumn } from '../../../shared/csv/csv.ts';
import { ScrolledTable } from '../../../ui/scrolled-table.tsx';
import { useNumbers } from './use-numbers.ts';

/** A figure of a study, as a row of a table. */
export interface FigureRow {
  readonly name: string;
  readonly unit: string;
  readonly value: number | null;
  readonly kind: 'number' | 'share';
  readonly digits: number;
}

/** A limit is a whole number, except in other units than those in which it was set. */
export function limitDigits(limit: number | null): number {
  return Number.isInteger(limit) ? 0 : 1;
}

type Figures = Omit<SpeedStudyOfPlace, 'timezone'>;

/** The figures of a study, in the order of a report. */
export function figureRows(study: Figures, t: TFunction<'studies'>): FigureRow[] {
  const unit = t(`units.${study.units}`);
  const speed = (name: string, value: number | null): FigureRow => ({
    ...{ name, unit, value, kind: 'number', digits: 1 },
  });
  const share = (name: string, value: number | null): FigureRow => ({
    ...{ name, unit: '', value, kind: 'share', digits: 1 },
  });
  const { pace, v85Confidence: interval, sampleSize } = study;
  return [
    { name: t('speed.sample'), unit: t('units.speeds'), value: study.n, kind: 'number', digits: 0 },
    speed(t('speed.mean'), study.mean),
    speed(t('speed.sdLong'), study.sd),
    speed('V15', study.v15),
    speed('V50', study.v50),
    speed('V85', study.v85),
    speed(t('speed.intervalLow'), interval?.low ?? null),
    speed(t('speed.intervalHigh'), interval?.high ?? null),
    speed('V95', study.v95),
    speed('V98', study.v98),
    speed(t('speed.max'), study.max),
    { ...speed(t('speed.limit'), study.limit), digits: limitDigits(study.limit) },
    ...study.over.map(({ by, share: part }) =>
      share(by === 0 ? t('speed.over') : t('speed.overBy', { by: `${by} ${unit}` }), part),
    ),
    { ...speed(t('speed.paceFrom'), pace?.from ?? null), digits: 0 },
    share(t('speed.paceShare'), pace?.share ?? null),
    share(t('speed.belowPace'), pace?.below ?? null),
    share(t('speed.abovePace'), pace?.above ?? null),
    ...(sampleSize
      ? [
          {
            name: t('speed.needed', { margin: `±${sampleSize.margin} ${unit}` }),
            unit: t('units.speeds'),
            value: sampleSize.needed,
            kind: 'number' as const,
            digits: 0,
          },
        ]
      : []),
  ];
}

interface SpeedFiguresProps {
  readonly study: SpeedStudyOfPlace;
  readonly subject: string;
  readonly from: Date;
  readonly until: Date;
  /** What is studied, for the file. */
  readonly facts: readonly (readonly [name: string, value: string])[];
}

/** All figures of a study as a table and a file, with the method and what is studied. */
export function SpeedFigures({ study, subject, from, until, facts }: SpeedFiguresProps) {
  const { t } = useTranslation('studies');
  const { number, share } = useNumbers();
  const zone = useZoneNote(from, until);
  const rows = figureRows(study, t);
  const columns: ChartColumn[] = [
    { header: t('file.figure'), kind: 'text' },
    { header: t('file.value'), kind: 'number' },
    { header: t('file.unit'), kind: 'text' },
  ];
  const method: Cell[][] = [
    [t('howLabels.method'), t(`methods.${study.method}`), ''],
    [t('speed.basis.label'), t(`speed.basis.${study.basis}`), ''],
    ...facts.map(([name, value]) => [name, value, '']),
  ];
  return (
    <CardFrame
      title={t('speed.figures')}
      {...{ subject, zone }}
      n={t('nSpeeds', { count: study.n })}
      table={{ columns, rows: [...rows.map(({ name, value, unit }) => [name, value, unit]), ...method] }}
    >
      <ScrolledTable
        label={t('speed.figures')}
        className="max-h-none max-w-2xl"
        head="bg-surface"
        columns={[
          { header: t('file.figure'), className: 'border-b', cell: ({ name }: FigureRow) => name },
          {
            header: t('file.value'),
            isFigure: true,
            className: 'border-b',
            cell: ({ value, kind, digits }) =>
              (kind === 'share' ? share(value) : number(value, digits)) ?? GAP,
          },
          { header: t('file.unit'), className: 'border-b text-muted', cell: ({ unit }) => unit },
        ]}
        rows={rows}
        keyOf={({ name }) => name}
      />
    </CardFrame>
  );
}
