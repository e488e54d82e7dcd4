import type { CountsOfPlace, DailyVolumesOfPlace, PeakHoursOfPlace } from '@gantry/contract/figures';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { CardFrame } from '../../../../shared/chart/card-frame.tsx';
import { useCellText } from '../../../../shared/chart/use-cell-text.ts';
import { useZoneNote } from '../../../../shared/chart/use-zone-note.ts';
import { type DayRange, daysIn } from '../../../../shared/range/days.ts';
import { useServiceTime } from '../../../../shared/time/use-time.ts';
import { Facts, Panel } from '../../../../ui/panel.tsx';
import type { Place } from '../../comparison.ts';
import { columnsOf, sumOf } from '../count-table.ts';
import { useCountTable } from '../counts-file.ts';
import { CountsTable } from '../counts-table.tsx';
import { DaySwitch } from '../counts-view.tsx';
import { PeakHoursCard } from '../peak-hours-card.tsx';
import { Reason } from '../reasons.tsx';
import { StatusLegend } from '../statuses.tsx';

interface VolumeFiguresProps {
  readonly figures: CountsOfPlace & DailyVolumesOfPlace & { readonly peaks: PeakHoursOfPlace | null };
  readonly place: Place;
  readonly name: string;
  readonly days: DayRange;
  /** The day whose intervals are shown. */
  readonly day: string;
  readonly onChange: (change: Readonly<Record<string, unknown>>) => void;
}

/** The figures of a count: its average days, its intervals by direction, and its peak hours. */
export function VolumeFigures({ figures, place, name, days, day, onChange }: VolumeFiguresProps) {
  const { t } = useTranslation('studies');
  const { t: traffic } = useTranslation('traffic');
  const time = useServiceTime();
  const onChooseDay = (chosen: string) => onChange({ day: chosen });
  const { interval, peaks } = figures;
  const isByDay = interval === 'day';
  const bins = isByDay ? figures.bins : figures.bins.filter(({ start }) => time.isoDay(start) === day);
  const columns = useMemo(() => columnsOf(figures.bins), [figures]);
  const ofDay = peaks?.days.find(({ date }) => date === day)?.windows ?? [];
  const zone = useZoneNote(bins[0]?.start ?? new Date(0), bins.at(-1)?.end ?? new Date(1));
  const title = t('counts.title', {
    days: `\u2068${isByDay ? time.days(days) : time.day(day)}\u2069`,
  });
  const table = useCountTable()(figures.bins, peaks?.days.flatMap(({ windows }) => windows) ?? []);
  return (
    <>
      <AverageDays figures={figures} />
      <CardFrame
        {...{ title, table, zone }}
        subject={name}
        n={traffic('vehicles', { count: sumOf(bins.map(({ volume }) => volume)) ?? 0 })}
      >
        {!isByDay && <DaySwitch {...{ days, day, onChooseDay }} />}
        <CountsTable label={`${title}, ${name}`} {...{ bins, columns, interval }} peaks={ofDay} />
        <StatusLegend statuses={bins.map(({ status }) => status)} />
      </CardFrame>
      {peaks && daysIn(days) > 1 && <PeakHoursCard {...{ place, days, day, peaks, onChooseDay }} />}
    </>
  );
}

/** The mean days, and which days are in none of them. */
function AverageDays({ figures: { adt, awdt, weekendAdt, excluded } }: Pick<VolumeFiguresProps, 'figures'>) {
  const { t } = useTranslation('studies');
  const textOf = useCellText();
  const time = useServiceTime();
  const mean = ({ value, n }: typeof adt) =>
    value === null
      ? `– (${t('nDays', { count: n })})`
      : `${textOf(value, { header: '', kind: 'number' })} (${t('nDays', { count: n })})`;
  return (
    <Panel title={t('signing.averages')}>
      <Facts
        facts={[
          [t('signing.adt'), mean(adt)],
          [t('signing.awdt'), mean(awdt)],
          [t('signing.weekendAdt'), mean(weekendAdt)],
          [
            t('signing.excluded'),
            excluded.length > 0 && (
              <ul key="excluded" className="max-h-40 overflow-y-auto">
                {excluded.map(({ date, reason }) => (
                  <li key={date}>
                    <bdi dir="ltr">{time.day(date)}</bdi>: <Reason text={reason} />
                  </li>
                ))}
              </ul>
            ),
          ],
        ]}
      />
    </Panel>
  );
}
