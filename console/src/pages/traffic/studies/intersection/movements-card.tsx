import { type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { CardFrame } from '../../../../shared/chart/card-frame.tsx';
import { useCellText } from '../../../../shared/chart/use-cell-text.ts';
import { useZoneOfDays } from '../../../../shared/chart/use-zone-note.ts';
import type { Cell, ChartColumn, ChartTable } from '../../../../shared/csv/csv.ts';
import { ScrolledTable } from '../../../../ui/scrolled-table.tsx';
import {
  type CountPartName,
  classesOf,
  fromLeg,
  heavyShare,
  legsOf,
  type NamedChoice,
  ofLeg,
  type TurningMovement,
  type TurningPeak,
  type TurningTotals,
} from './figures.ts';
import { type Leg, travelFrom } from './geometry.ts';

interface MovementsCardProps {
  readonly title: string;
  readonly choice: NamedChoice;
  readonly part: CountPartName;
  readonly peak: TurningPeak | null;
  readonly figures: TurningTotals;
  readonly drawing: ReactNode;
}

/** The drawing of the intersection, and its twin: every movement with its share, factor and classes. */
export function MovementsCard({ title, choice, peak, figures, drawing }: MovementsCardProps) {
  const { t } = useTranslation('studies');
  const { t: traffic } = useTranslation('traffic');
  const { name } = choice;
  const table = useMovementTable(figures, peak !== null);
  return (
    <CardFrame
      {...{ title, table }}
      subject={name}
      n={traffic('vehicles', { count: figures.volume })}
      zone={useZoneOfDays(choice.days)}
    >
      <div className="grid min-w-0 items-start gap-4 2xl:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
        <div className="min-w-0">
          {drawing}
          <p className="text-sm text-muted">{t('intersection.legend')}</p>
        </div>
        <FigureTable label={t('intersection.movements')} table={table} strong={isSum} />
      </div>
      <p className="text-sm text-muted">{t('intersection.note')}</p>
    </CardFrame>
  );
}

/** The rows that sum up others have no turn. */
const isSum = (row: ChartTable['rows'][number]): boolean => row[1] === null;

interface LegsCardProps extends Pick<MovementsCardProps, 'choice' | 'figures'> {
  readonly all: TurningTotals;
  readonly part: string;
}

/** What comes and leaves by every leg, and who crosses it. */
export function LegsCard({ choice, figures, all, part }: LegsCardProps) {
  const { t } = useTranslation('studies');
  const { t: traffic } = useTranslation('traffic');
  const { name } = choice;
  const number = (header: string): ChartColumn => ({ header, kind: 'number' });
  const rows = [...new Set(legsOf(all))].map((leg): Cell[] => {
    const [approach, exit] = [ofLeg(figures.approaches, leg), ofLeg(figures.exits, leg)];
    const across = [ofLeg(figures.pedestriansByLeg, leg), ofLeg(figures.bicyclesByLeg, leg)];
    return [t(`legs.${leg}`), approach, exit, approach + exit, ...across];
  });
  const table: ChartTable = {
    columns: [
      { header: t('intersection.leg'), kind: 'text' },
      number(t('intersection.approach')),
      number(t('intersection.exit')),
      number(t('intersection.both')),
      number(t('intersection.pedestrians')),
      number(t('intersection.bicycles')),
    ],
    rows,
  };
  const title = t('intersection.legsTitle', { part: `\u2068${part}\u2069` });
  return (
    <CardFrame
      {...{ title, table }}
      subject={name}
      n={traffic('vehicles', { count: figures.volume })}
      zone={useZoneOfDays(choice.days)}
    >
      <FigureTable label={title} table={table} />
    </CardFrame>
  );
}

interface FigureTableProps {
  readonly label: string;
  readonly table: ChartTable;
  /** The rows in bold letters. */
  readonly strong?: (row: ChartTable['rows'][number]) => boolean;
}

function FigureTable({ label, table: { columns, rows }, strong }: FigureTableProps) {
  const textOf = useCellText();
  return (
    <ScrolledTable
      label={label}
      className="max-h-none"
      head="bg-surface"
      columns={columns.map((column, at) => ({
        header: column.header,
        isFigure: column.kind !== 'text',
        className: 'border-b',
        cell: (row: (typeof rows)[number]) => {
          const text = column.kind === 'text' && row[at] === null ? '' : textOf(row[at] ?? null, column);
          return strong?.(row) ? <strong>{text}</strong> : text;
        },
      }))}
      rows={rows}
      keyOf={(row) => `${row[0]} ${row[1]}`}
    />
  );
}

/** The movements of every approach with its sum, and the sum of all. */
function useMovementTable(figures: TurningTotals, isPeak: boolean): ChartTable {
  const { t } = useTranslation('studies');
  return useMemo(() => {
    const { movements, approaches, volume } = figures;
    const codes = classesOf(movements);
    const columns: ChartColumn[] = [
      { header: t('intersection.from'), kind: 'text' },
      { header: t('intersection.turn'), kind: 'text' },
      { header: t('counts.motorVehicles'), kind: 'number' },
      { header: t('intersection.share'), kind: 'share' },
      ...(isPeak ? [{ header: t('peak.phf'), kind: 'number', digits: 2 } as const] : []),
      { header: t('intersection.heavy'), kind: 'share' },
      ...codes.map((code) => ({ header: t(`classes.${code as 'CAR'}`), kind: 'number' as const })),
    ];
    const ofClasses = (list: readonly TurningMovement[]) =>
      codes.map((code) =>
        list
          .flatMap(({ byClass }) => byClass)
          .filter((one) => one.class === code)
          .reduce((sum, one) => sum + one.volume, 0),
      );
    const row = (
      from: string,
      turn: string | null,
      sum: number,
      list: readonly TurningMovement[],
      factor: number | null,
    ): Cell[] => [
      from,
      turn,
      sum,
      volume > 0 ? sum / volume : null,
      ...(isPeak ? [factor] : []),
      heavyShare(list),
      ...ofClasses(list),
    ];
    const nameOf = (leg: Leg) =>
      t('intersection.fromLeg', { leg: t(`legs.${leg}`), travel: travelFrom(leg) });
    const rows = approaches
      .filter(({ leg }) => fromLeg(movements, leg).length > 0 || ofLeg(approaches, leg) > 0)
      .flatMap(({ leg, volume: sum }) => {
        const list = fromLeg(movements, leg);
        return [
          ...list.map((one) =>
            row(nameOf(leg), t(`turns.${one.turn}`), one.volume, [one], one.peakHourFactor ?? null),
          ),
          row(t('intersection.sumOf', { leg: nameOf(leg) }), null, sum, list, null),
        ];
      });
    const { peakHourFactor = null } = figures as Partial<TurningPeak>;
    return {
      columns,
      rows: [...rows, row(t('intersection.all'), null, volume, movements, peakHourFactor)],
    };
  }, [figures, isPeak, t]);
}
