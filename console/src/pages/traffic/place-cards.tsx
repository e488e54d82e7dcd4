import type { Flow, HourOfWeek } from '@gantry/contract/traffic';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { ChartCard } from '../../shared/chart/chart-card.tsx';
import type { ChartOption } from '../../shared/chart/echarts.ts';
import { hourOfWeek } from '../../shared/chart/hour-of-week.ts';
import type { Look } from '../../shared/chart/look.ts';
import {
  bars,
  categoryAxis,
  gapAxes,
  gaps,
  grid,
  legend,
  line,
  marks,
  valueAxis,
} from '../../shared/chart/parts.ts';
import { timeLabels } from '../../shared/chart/time-axis.ts';
import { useCellText } from '../../shared/chart/use-cell-text.ts';
import { weekdaysFrom } from '../../shared/time/format.ts';
import { useServiceTime } from '../../shared/time/use-time.ts';
import { useTimeSettings } from '../../shared/time/zone.ts';
import { type FlowView, type Series, startsOf, tableOf, useFlowTooltip, valuesOf } from './flow-view.ts';
import { useVehicles } from './vehicle-types.tsx';

/** The chart of the number of vehicles per interval. */
export function VolumeCard({ view, from, until }: { view: FlowView; from: Date; until: Date }) {
  const { t, i18n } = useTranslation('traffic');
  const { t: chartText } = useTranslation('chart');
  const time = useServiceTime();
  const vehicles = useVehicles();
  const unit = t(`units.${view.first.units}`);
  const series = useMemo<Series[]>(
    () => [
      { name: t('figures.volume'), of: ({ volume }) => volume, kind: 'number' },
      {
        name: t('figures.meanSpeed'),
        of: ({ meanSpeed }) => meanSpeed,
        kind: 'number',
        digits: 1,
        unit,
      },
      { name: t('figures.shareOverLimit'), of: ({ shareOverLimit }) => shareOverLimit, kind: 'share' },
      { name: t('figures.completeness'), of: ({ completeness }) => completeness, kind: 'share' },
    ],
    [t, unit],
  );
  const tooltip = useFlowTooltip(view, series);
  const draw = useCallback(
    (look: Look): ChartOption => {
      const { pairs, second, firstName, secondName } = view;
      const starts = startsOf(pairs);
      const { labels, isLabelled } = timeLabels(starts, time, i18n.language);
      const [volume] = series;
      if (!volume) return {};
      const title = (name: string) => (second ? `${volume.name}, ${name}` : volume.name);
      const values = valuesOf(pairs, 'first', volume);
      const others = valuesOf(pairs, 'second', volume);
      return {
        grid: { ...grid, top: second ? 72 : 56 },
        legend: legend(look),
        tooltip: tooltip(look),
        xAxis: [categoryAxis(look, labels, { isLabelled }), gapAxes(labels).x],
        yAxis: [
          valueAxis(look, (value) => value.toLocaleString(i18n.language), t('volume.axis')),
          gapAxes(labels).y,
        ],
        series: [
          bars({ name: title(firstName), color: look.low, data: values, look }),
          ...(second
            ? [line({ name: title(secondName), color: look.accent, data: others, symbol: 'diamond' })]
            : []),
          gaps(
            look,
            chartText('gap'),
            // An interval in the future is not a gap.
            starts.map((start, at) => values[at] === null && start.getTime() < Date.now()),
          ),
        ],
      };
    },
    [view, series, tooltip, time, i18n.language, chartText, t],
  );
  return (
    <ChartCard
      title={t('volume.title')}
      subject={view.subject}
      n={vehicles(view.first.volume ?? 0, view.second?.volume)}
      from={from}
      until={until}
      table={tableOf(view, series, chartText('start'))}
      draw={draw}
    />
  );
}

const PERCENTILES = ['v15', 'v50', 'v85', 'v95'] as const;

/** Each percentile has its own line style and symbol, so that they do not differ by colour alone. */
const looks = {
  v15: { token: 'low', dash: 'dotted', symbol: 'triangle', width: 1.5 },
  v50: { token: 'text', dash: 'solid', symbol: 'rect', width: 1.5 },
  v85: { token: 'accent', dash: 'solid', symbol: 'circle', width: 2.5 },
  v95: { token: 'muted', dash: 'dashed', symbol: 'diamond', width: 1.5 },
} as const;

/** The colours of the second period or place of a comparison. */
const others = { v50: 'medium', v85: 'good', v15: 'low', v95: 'muted' } as const;

/**
 * The chart of V15, V50, V85 and V95 per interval: the speeds that 15, 50, 85 and 95 % of the vehicles did not exceed.
 * A comparison shows only V50 and V85, to limit the number of lines.
 */
export function SpeedsCard({ view, from, until }: { view: FlowView; from: Date; until: Date }) {
  const { t, i18n } = useTranslation('traffic');
  const { t: chartText } = useTranslation('chart');
  const time = useServiceTime();
  const vehicles = useVehicles();
  const unit = t(`units.${view.first.units}`);
  const series = useMemo<Series[]>(
    () => [
      ...PERCENTILES.map((name) => ({
        name: name.toUpperCase(),
        of: (point: Parameters<Series['of']>[0]) => point[name],
        kind: 'number' as const,
        digits: 1,
        unit,
      })),
      {
        name: t('figures.meanSpeed'),
        of: ({ meanSpeed }) => meanSpeed,
        kind: 'number',
        digits: 1,
        unit,
      },
    ],
    [t, unit],
  );
  const tooltip = useFlowTooltip(view, series);
  const draw = useCallback(
    (look: Look): ChartOption => {
      const { pairs, second, first, firstName, secondName } = view;
      const { labels, isLabelled } = timeLabels(startsOf(pairs), time, i18n.language);
      const limit = first.speedLimit;
      const shown = second ? (['v50', 'v85'] as const) : PERCENTILES;
      const lines = shown.flatMap((name) => {
        const one = series[PERCENTILES.indexOf(name)];
        if (!one) return [];
        const { token, ...rest } = looks[name];
        const title = (of: string) => (second ? `${one.name}, ${of}` : one.name);
        const own = line({
          name: title(firstName),
          color: look[token],
          data: valuesOf(pairs, 'first', one),
          ...rest,
        });
        if (!second) return [own];
        const other = line({
          name: title(secondName),
          color: look[others[name]],
          data: valuesOf(pairs, 'second', one),
          dash: 'dashed',
          symbol: name === 'v85' ? 'emptyCircle' : 'emptyRect',
          width: 1.5,
        });
        return [own, other];
      });
      const [head, ...rest] = lines;
      const marked =
        limit === null
          ? []
          : [{ name: t('limit', { limit }), color: look.high, at: limit, dash: 'dashed' as const }];
      return {
        grid: { ...grid, top: second ? 72 : 56 },
        legend: legend(look),
        tooltip: tooltip(look),
        xAxis: categoryAxis(look, labels, { isLabelled }),
        yAxis: valueAxis(look, (value) => value.toLocaleString(i18n.language), unit),
        series: head ? [{ ...head, markLine: marks(look, 'yAxis', marked) }, ...rest] : [],
      };
    },
    [view, series, tooltip, time, i18n.language, t, unit],
  );
  return (
    <ChartCard
      title={t('speeds.title')}
      subject={view.subject}
      n={vehicles(view.first.volume ?? 0, view.second?.volume)}
      from={from}
      until={until}
      table={tableOf(view, series, chartText('start'))}
      draw={draw}
    >
      {view.first.measured > 0 && view.first.points.every(({ v50 }) => v50 === null) && (
        <p className="text-muted">{t('speeds.tooFew')}</p>
      )}
    </ChartCard>
  );
}

interface WeekCardProps {
  readonly week: HourOfWeek;
  /** The name of the place or the days, to tell the two charts of a comparison apart. */
  readonly name?: string | undefined;
  readonly subject: string;
  readonly n: string;
  readonly from: Date;
  readonly until: Date;
  readonly shows: 'volume' | 'speed';
  readonly units: Flow['units'];
}

/** The average volume or speed in each hour of the week. */
export function WeekCard({ week, name, subject, n, from, until, shows, units }: WeekCardProps) {
  const { t, i18n } = useTranslation('traffic');
  const { t: chartText } = useTranslation('chart');
  const textOf = useCellText();
  const { firstDayOfWeek } = useTimeSettings();
  const title = shows === 'volume' ? t('week.volume') : t('week.speed');
  const { table, draw } = useMemo(() => {
    const hours = new Map(
      week.days.flatMap(({ weekday, hours: all }) => all.map((hour) => [`${weekday} ${hour.hour}`, hour])),
    );
    const format = (digits: number) => (value: number | null) =>
      textOf(value, { header: '', kind: 'number', digits });
    return hourOfWeek({
      days: weekdaysFrom(firstDayOfWeek, i18n.language),
      figureOf: (weekday, hour) => {
        const cell = hours.get(`${weekday} ${hour}`);
        return (shows === 'volume' ? cell?.meanVolume : cell?.meanSpeed) ?? null;
      },
      format: format(1),
      moreOf: (weekday, hour) => {
        const cell = hours.get(`${weekday} ${hour}`);
        if (!cell) return [];
        return [
          shows === 'volume'
            ? { name: t('figures.meanSpeed'), value: `${format(1)(cell.meanSpeed)} ${t(`units.${units}`)}` }
            : { name: t('week.volume'), value: format(1)(cell.meanVolume) },
          { name: t('week.hours'), value: format(0)(cell.hours) },
        ];
      },
      texts: { day: chartText('weekday'), value: title, gap: chartText('gap') },
      digits: 1,
    });
  }, [week, shows, units, title, textOf, firstDayOfWeek, i18n.language, t, chartText]);
  return (
    <ChartCard
      title={name === undefined ? title : `${title}, ${name}`}
      subject={subject}
      n={n}
      from={from}
      until={until}
      table={table}
      draw={draw}
    />
  );
}
