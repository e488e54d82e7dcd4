import type { StudyComparison } from '@gantry/contract/figures';
import type { SpeedUnits } from '@gantry/contract/values';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { CardFrame } from '../../../shared/chart/card-frame.tsx';
import { ChartCard } from '../../../shared/chart/chart-card.tsx';
import type { ChartOption } from '../../../shared/chart/echarts.ts';
import type { Look } from '../../../shared/chart/look.ts';
import { categoryAxis, grid, legend, line, marks, valueAxis } from '../../../shared/chart/parts.ts';
import { tooltipOf } from '../../../shared/chart/tooltip.ts';
import { GAP, useCellText } from '../../../shared/chart/use-cell-text.ts';
import { useSpan, useZoneNote } from '../../../shared/chart/use-zone-note.ts';
import type { Cell, ChartTable } from '../../../shared/csv/csv.ts';
import { service } from '../../../shared/service/service.ts';
import { useServiceTime } from '../../../shared/time/use-time.ts';
import { Empty } from '../../../ui/empty.tsx';
import { ScrolledTable } from '../../../ui/scrolled-table.tsx';
import type { Subject } from '../comparison.ts';
import { usePlaceName } from '../place.tsx';
import { type FigureRow, figureRows, limitDigits } from './speed-figures.tsx';
import { changeOf, comparisonInput, upToBoth } from './speed-study.ts';
import { Loaded } from './states.tsx';
import { FigureTile, Tiles } from './tile.tsx';
import { useNumbers } from './use-numbers.ts';

interface SpeedComparisonProps {
  readonly before: Subject;
  readonly after: Subject;
  readonly units: SpeedUnits | undefined;
  readonly today: string;
}

/** Two speed studies, and whether the difference between them could be chance. */
export function SpeedComparison({ before, after, units, today }: SpeedComparisonProps) {
  const { t } = useTranslation('studies');
  const time = useServiceTime();
  const compared = useQuery({
    ...service.traffic.compareStudies.queryOptions(comparisonInput(before, after, units)),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  const [nameBefore, nameAfter] = [usePlaceName(before.place), usePlaceName(after.place)];
  const daysOf = ({ days }: Subject) => `\u2066${time.days(days)}\u2069`;
  const facts = [
    [t('compare.before'), `${nameBefore}, ${daysOf(before)}`],
    [t('compare.after'), `${nameAfter}, ${daysOf(after)}`],
    [t('zone'), time.zone],
  ] as const;
  const isOver = before.days.endDate < today && after.days.endDate < today;
  const subject = nameBefore === nameAfter ? nameAfter : `${nameBefore} / ${nameAfter}`;
  const [first = before.days, last = after.days] = [before, after]
    .map(({ days }) => days)
    .sort((a, b) => (a.startDate < b.startDate ? -1 : 1));
  const [from, until] = useSpan({ startDate: first.startDate, endDate: last.endDate });
  const card = { subject, from, until, facts };
  return (
    <Loaded queries={[compared]}>
      {() => {
        const { data } = compared;
        if (!data) return null;
        if (data.before.n + data.after.n === 0)
          return (
            <Empty icon="none" title={t('speed.none')}>
              {t('compare.noneText')}
            </Empty>
          );
        return (
          <>
            <p className="text-sm text-muted">
              {facts[0].join(': ')} · {facts[1].join(': ')}. {t('compare.note')}
            </p>
            <ChangeTiles {...{ data, facts, isOver }} />
            <BothChart {...{ data }} {...card} />
            <BothFigures {...{ data }} {...card} />
          </>
        );
      }}
    </Loaded>
  );
}

interface ChangeTilesProps {
  readonly data: StudyComparison;
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** Whether both periods are over. */
  readonly isOver: boolean;
}

/** The changes of the mean speed, V85 and the share over the limit, with the result of the test in words. */
function ChangeTiles({ data, facts, isOver }: ChangeTilesProps) {
  const { t } = useTranslation('studies');
  const { number, share, signed } = useNumbers();
  const { before, after } = data;
  const unit = t(`units.${before.units}`);
  const speed = (value: number | null) => number(value, 1) ?? GAP;
  const overOf = ({ over }: StudyComparison['before']) => share(over[0]?.share ?? null) ?? GAP;
  const tiles = [
    ['changeMean', data.mean, `${speed(before.mean)} → ${speed(after.mean)}`],
    ['changeV85', data.v85, `${speed(before.v85)} → ${speed(after.v85)}`],
    ['changeShare', data.share, `${overOf(before)} → ${overOf(after)}`],
  ] as const;
  return (
    <Tiles>
      {tiles.map(([kind, { difference, z, p, significant, reason }, values]) => {
        const isShare = kind === 'changeShare';
        const chance = p === null ? '' : p < 0.0001 ? `p < ${number(0.0001, 4)}` : `p = ${number(p, 4)}`;
        return (
          <FigureTile
            key={kind}
            figure={{
              kind,
              label: t(`compare.${kind}`),
              value:
                difference === null
                  ? null
                  : `\u2066${signed(isShare ? -difference * 100 : -difference, 1)}\u2069`,
              unit: isShare ? t('units.points') : unit,
              n: `${number(before.n)} / ${number(after.n)}`,
              method: t(`methods.${kind}`),
              status: significant === null ? 'INSUFFICIENT' : isOver ? 'VALID' : 'PROVISIONAL',
              reason,
              more: [
                [t('compare.z'), z === null ? null : `\u2066${signed(-z, 2)}\u2069`],
                [t('compare.p'), chance],
              ],
            }}
            subject={facts}
          >
            <p className="figures text-sm">
              <bdi dir="ltr">{values}</bdi>
            </p>
            {significant !== null && (
              <p className="text-sm font-medium">
                {t(significant ? 'compare.significant' : 'compare.notSignificant', {
                  p: `\u2066${chance}\u2069`,
                })}
              </p>
            )}
          </FigureTile>
        );
      })}
    </Tiles>
  );
}

interface BothProps {
  readonly data: StudyComparison;
  readonly subject: string;
  readonly from: Date;
  readonly until: Date;
  readonly facts: ChangeTilesProps['facts'];
}

/** The cumulative curves of both studies. */
function BothChart({ data, subject, from, until }: BothProps) {
  const { t } = useTranslation('studies');
  const textOf = useCellText();
  const { number } = useNumbers();
  const { before, after } = data;
  const unit = t(`units.${after.units}`);
  const rows = useMemo(() => upToBoth(before.bins, after.bins), [before, after]);
  const table = useMemo<ChartTable>(
    () => ({
      columns: [
        { header: t('speed.below'), kind: 'number', unit },
        { header: t('compare.before'), kind: 'share' },
        { header: t('compare.after'), kind: 'share' },
      ],
      rows: rows.map(({ below, shares }) => [below, ...shares]),
    }),
    [rows, unit, t],
  );
  const draw = useCallback(
    (look: Look): ChartOption => {
      const share = (value: number) => textOf(value, { header: '', kind: 'share' });
      const [first = 0] = rows.map(({ below }) => below);
      const limited = after.limit !== null && after.limit === before.limit ? after.limit : null;
      return {
        grid: { ...grid, top: 56 },
        legend: legend(look),
        tooltip: tooltipOf(look, 'axis', (at, colorOf) => ({
          title: [`< ${rows[at]?.below ?? ''} ${unit}`],
          rows: [t('compare.before'), t('compare.after')].map((name, side) => ({
            name,
            value: textOf(rows[at]?.shares[side] ?? null, { header: '', kind: 'share' }),
            color: colorOf(name),
          })),
        })),
        xAxis: categoryAxis(
          look,
          rows.map(({ below }) => `${below}`),
          { name: unit },
        ),
        yAxis: { ...valueAxis(look, share), max: 1 },
        series: [
          {
            ...line({
              name: t('compare.before'),
              color: look.muted,
              data: rows.map(({ shares }) => shares[0]),
              dash: 'dashed',
              symbol: 'emptyCircle',
            }),
            showSymbol: false,
            markLine: marks(look, 'yAxis', [{ name: 'V85', color: look.muted, at: 0.85, dash: 'dashed' }]),
          },
          {
            ...line({
              name: t('compare.after'),
              color: look.accent,
              data: rows.map(({ shares }) => shares[1]),
              symbol: 'circle',
            }),
            showSymbol: false,
            ...(limited !== null && {
              markLine: marks(look, 'xAxis', [
                {
                  name: `${t('speed.limit')} ${number(limited, limitDigits(limited))}`,
                  color: look.high,
                  at: Math.round(limited) - first,
                  dash: 'dashed',
                },
              ]),
            }),
          },
        ],
      };
    },
    [rows, before, after, unit, textOf, number, t],
  );
  return (
    <ChartCard
      title={t('compare.chart')}
      n={`${number(before.n)} / ${number(after.n)}`}
      {...{ subject, from, until, table, draw }}
    />
  );
}

/** All figures of both studies side by side. */
function BothFigures({ data, subject, from, until, facts }: BothProps) {
  const { t } = useTranslation('studies');
  const { number, share, signed } = useNumbers();
  const zone = useZoneNote(from, until);
  const ofAfter = new Map(figureRows(data.after, t).map((row) => [row.name, row.value]));
  const rows = figureRows(data.before, t).map((row) => {
    const after = ofAfter.get(row.name) ?? null;
    // More speeds are no change of the speed.
    const change = row.unit === t('units.speeds') ? null : changeOf(row.value, after);
    return { ...row, after, change };
  });
  type Row = (typeof rows)[number];
  const text = (value: FigureRow['value'], { kind, digits }: Row) =>
    (kind === 'share' ? share(value) : number(value, digits)) ?? GAP;
  const changeText = ({ change, kind, digits }: Row) =>
    change === null
      ? GAP
      : kind === 'share'
        ? `${signed(change * 100, 1)} ${t('units.points')}`
        : signed(change, digits);
  const column = { isFigure: true, className: 'border-b' } as const;
  return (
    <CardFrame
      title={t('speed.figures')}
      {...{ subject, zone }}
      n={`${number(data.before.n)} / ${number(data.after.n)}`}
      table={{
        columns: [
          { header: t('file.figure'), kind: 'text' },
          { header: t('file.unit'), kind: 'text' },
          { header: t('compare.before'), kind: 'number' },
          { header: t('compare.after'), kind: 'number' },
          { header: t('compare.change'), kind: 'number' },
        ],
        rows: [
          ...rows.map(({ name, unit, value, after, change }) => [
            name,
            unit,
            value,
            after,
            change === null ? null : Math.round(change * 10_000) / 10_000,
          ]),
          ...testRows(data, t),
          [t('period'), '', facts[0]?.[1] ?? '', facts[1]?.[1] ?? '', ''],
        ],
      }}
    >
      <ScrolledTable
        label={t('speed.figures')}
        className="max-h-none max-w-3xl"
        head="bg-surface"
        columns={[
          {
            header: t('file.figure'),
            className: 'border-b',
            cell: ({ name, unit }: Row) => (
              <>
                {name} {unit && <span className="text-muted">({unit})</span>}
              </>
            ),
          },
          { ...column, header: t('compare.before'), cell: (row) => text(row.value, row) },
          { ...column, header: t('compare.after'), cell: (row) => text(row.after, row) },
          { ...column, header: t('compare.change'), cell: (row) => <bdi dir="ltr">{changeText(row)}</bdi> },
        ]}
        rows={rows}
        keyOf={({ name }) => name}
      />
    </CardFrame>
  );
}

/** The probabilities of the tests, for the file. */
function testRows({ mean, v85, share }: StudyComparison, t: TFunction<'studies'>): Cell[][] {
  return (
    [
      ['changeMean', mean],
      ['changeV85', v85],
      ['changeShare', share],
    ] as const
  ).map(([kind, { p }]) => [`${t(`compare.${kind}`)}, ${t(`methods.${kind}`)}`, 'p', null, null, p]);
}
