import type { HourOfWeek } from '@gantry/contract/traffic';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { ChartCard } from '../../shared/chart/chart-card.tsx';
import { hourOfWeek, weekdaysFrom } from '../../shared/chart/hour-of-week.ts';
import { useCellText } from '../../shared/chart/use-cell-text.ts';
import { useTimeSettings } from '../../shared/time/zone.ts';

interface WeekCardProps {
  readonly week: HourOfWeek;
  /** The name of the place or the days, to tell the two charts of a comparison apart. */
  readonly name?: string | undefined;
  readonly subject: string;
  readonly n: string;
  readonly from: Date;
  readonly until: Date;
  readonly shows: 'volume' | 'speed';
}

/** The average volume or speed in each hour of the week. */
export function WeekCard({ week, name, subject, n, from, until, shows }: WeekCardProps) {
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
            ? { name: t('figures.meanSpeed'), value: `${format(1)(cell.meanSpeed)} ${t('kmh')}` }
            : { name: t('week.volume'), value: format(1)(cell.meanVolume) },
          { name: t('week.hours'), value: format(0)(cell.hours) },
        ];
      },
      texts: { day: chartText('weekday'), value: title, gap: chartText('gap') },
      digits: 1,
    });
  }, [week, shows, title, textOf, firstDayOfWeek, i18n.language, t, chartText]);
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
