import type { PeakHoursOfPlace } from '@gantry/contract/figures';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { CardFrame } from '../../../shared/chart/card-frame.tsx';
import { useCellText } from '../../../shared/chart/use-cell-text.ts';
import { useZoneOfDays } from '../../../shared/chart/use-zone-note.ts';
import type { ChartColumn, ChartTable } from '../../../shared/csv/csv.ts';
import type { DayRange } from '../../../shared/range/days.ts';
import { useServiceTime } from '../../../shared/time/use-time.ts';
import { ScrolledTable } from '../../../ui/scrolled-table.tsx';
import type { Place } from '../comparison.ts';
import { usePlaceName } from '../place.tsx';
import { useNumbers } from './use-numbers.ts';

interface PeakHoursCardProps {
  readonly place: Place;
  readonly days: DayRange;
  /** The day that is shown above. */
  readonly day: string;
  readonly peaks: PeakHoursOfPlace;
  readonly onChooseDay: (day: string) => void;
}

const shown = ['AM', 'MIDDAY', 'PM'] as const;

/** The peak hours of every day of a period, and those of the average day. A day can be chosen in it. */
export function PeakHoursCard({ place, days, day, peaks, onChooseDay }: PeakHoursCardProps) {
  const { t } = useTranslation('studies');
  const name = usePlaceName(place);
  const textOf = useCellText();
  const time = useServiceTime();
  const { number } = useNumbers();
  const table = usePeakTable(peaks);
  const zone = useZoneOfDays(days);
  const { columns, rows } = table;
  return (
    <CardFrame
      title={t('peaks.title', { days: `\u2068${time.days(days)}\u2069` })}
      subject={name}
      n={t('nDays', { count: peaks.average?.n ?? 0 })}
      {...{ table, zone }}
    >
      <ScrolledTable
        label={t('peaks.label')}
        className="max-h-96"
        head="bg-surface"
        columns={columns.map((column, at) => ({
          header: column.unit ? `${column.header} (${column.unit})` : column.header,
          isFigure: column.kind === 'number',
          isLeftToRight: column.kind === 'text' && at > 0,
          className: 'border-b',
          // A line before each window.
          ...(at % shown.length === 1 && { shown: 'border-s ps-4' }),
          cell: (row: (typeof rows)[number]) => {
            const value = row[at] ?? null;
            const text =
              typeof value === 'number' ? number(value, column.digits) : textOf(value, column as ChartColumn);
            if (at > 0) return text;
            if (!peaks.days.some(({ date }) => date === row[0])) return <strong>{text}</strong>;
            return (
              <button
                type="button"
                aria-pressed={row[0] === day}
                className="min-h-6 text-accent underline aria-pressed:font-semibold"
                onClick={() => onChooseDay(String(row[0]))}
              >
                <bdi dir="ltr">{text}</bdi>
              </button>
            );
          },
        }))}
        rows={rows}
        keyOf={(row) => String(row[0])}
      />
    </CardFrame>
  );
}

/** The rows of the average of the days, and of the days. */
function usePeakTable({ days, average }: PeakHoursOfPlace): ChartTable {
  const { t } = useTranslation('studies');
  const { t: traffic } = useTranslation('traffic');
  const time = useServiceTime();
  return useMemo(() => {
    const columns: ChartColumn[] = [
      { header: t('file.date'), kind: 'day' },
      ...shown.flatMap((window): ChartColumn[] => {
        const name = t(`windows.${window}`);
        return [
          { header: t('peaks.start', { window: name }), kind: 'text' },
          { header: t('peaks.volume', { window: name }), kind: 'number', unit: traffic('perHour') },
          { header: t('peaks.phf', { window: name }), kind: 'number', digits: 2 },
        ];
      }),
    ];
    type Found = {
      window: string;
      start: Date | string | null;
      volume: number | null;
      peakHourFactor: number | null;
    };
    const cellsOf = (windows: readonly Found[]) =>
      shown.flatMap((window) => {
        const found = windows.find((each) => each.window === window);
        const start = found?.start ?? null;
        return [
          start instanceof Date ? time.minute(start) : start,
          found?.volume ?? null,
          found?.peakHourFactor ?? null,
        ];
      });
    return {
      columns,
      rows: [
        ...(average ? [[t('peaks.average', { count: average.n }), ...cellsOf(average.windows)]] : []),
        ...days.map(({ date, windows }) => [date, ...cellsOf(windows)]),
      ],
    };
  }, [days, average, t, traffic, time]);
}
