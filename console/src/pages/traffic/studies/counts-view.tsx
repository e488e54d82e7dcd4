import type { CountsOfPlace } from '@gantry/contract/figures';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { CardFrame } from '../../../shared/chart/card-frame.tsx';
import { useZoneNote } from '../../../shared/chart/use-zone-note.ts';
import { DateField } from '../../../shared/form/date-field.tsx';
import { CopyButton } from '../../../shared/notices/copy-button.tsx';
import { type DayRange, daysIn, moved } from '../../../shared/range/days.ts';
import { service } from '../../../shared/service/service.ts';
import { useServiceTime } from '../../../shared/time/use-time.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { usePlaceName } from '../place.tsx';
import { type CountsChoice, columnsOf, countsInput, type PeakOfDay, sumOf } from './count-table.ts';
import { CountTiles } from './count-tiles.tsx';
import { useCountTable, useSaveCounts, useTsv } from './counts-file.ts';
import { CountsTable } from './counts-table.tsx';
import { PeakHoursCard } from './peak-hours-card.tsx';
import { peakWindows } from './peak-windows.tsx';
import { Loaded } from './states.tsx';
import { StatusLegend } from './statuses.tsx';

/** The most days of which the service gives peak hours at once. */
const MAX_PEAK_DAYS = 104;

interface CountsViewProps {
  readonly choice: CountsChoice;
  /** Changes query parameters of the page. */
  readonly onChange: (change: Readonly<Record<string, unknown>>) => void;
}

/** The tiles, the table and the peak hours of every day of a place. */
export function CountsView({ choice, onChange }: CountsViewProps) {
  const onChooseDay = (chosen: string) => onChange({ day: chosen });
  const { place, days, day, interval, windows } = choice;
  const isByDay = interval === 'day';
  const oneDay = { startDate: day, endDate: day };
  const options = { placeholderData: keepPreviousData, staleTime: 60_000 };
  const counts = useQuery({
    ...service.traffic.getCounts.queryOptions(countsInput(choice, isByDay ? days : oneDay)),
    ...options,
  });
  const peakInput = { ...place, windows: peakWindows(windows) };
  const peaks = useQuery({
    ...service.traffic.getPeakHours.queryOptions({ ...peakInput, ...oneDay, by: ['direction'] }),
    ...options,
    enabled: !isByDay,
  });
  const volume = useQuery({
    ...service.traffic.getDailyVolumes.queryOptions({ ...place, ...oneDay }),
    ...options,
    enabled: !isByDay,
  });
  const allPeaks = useQuery({
    ...service.traffic.getPeakHours.queryOptions({ ...peakInput, ...days }),
    ...options,
    enabled: daysIn(days) > 1 && daysIn(days) <= MAX_PEAK_DAYS,
  });
  return (
    <Loaded queries={[counts, peaks, volume]}>
      {() => {
        const { data } = counts;
        if (!data) return null;
        const ofDay = peaks.data?.days[0]?.windows ?? [];
        const [total] = volume.data?.days ?? [];
        return (
          <>
            {!isByDay && total && <CountTiles {...{ place, day, total }} bins={data.bins} peaks={ofDay} />}
            <CountsCard {...{ choice, onChange }} counts={data} peaks={isByDay ? [] : ofDay} />
            {allPeaks.data && daysIn(days) > 1 && (
              <PeakHoursCard {...{ place, days, day, onChooseDay }} peaks={allPeaks.data} />
            )}
          </>
        );
      }}
    </Loaded>
  );
}

interface CountsCardProps extends CountsViewProps {
  readonly counts: CountsOfPlace;
  readonly peaks: readonly PeakOfDay[];
}

/** The table of the intervals, with the day switch, the files, and the legend of the hatchings. */
function CountsCard({ choice, counts, peaks, onChange }: CountsCardProps) {
  const { t, i18n } = useTranslation('studies');
  const { t: traffic } = useTranslation('traffic');
  const time = useServiceTime();
  const { place, days, day, interval } = choice;
  const { bins } = counts;
  const isByDay = interval === 'day';
  const name = usePlaceName(place);
  const columns = useMemo(() => columnsOf(bins), [bins]);
  const [first, last] = [bins[0]?.start ?? new Date(0), bins.at(-1)?.end ?? new Date(1)];
  const zone = useZoneNote(first, last);
  const count = sumOf(bins.map(({ volume }) => volume)) ?? 0;
  const weekday = new Intl.DateTimeFormat(i18n.language, { weekday: 'long', timeZone: 'UTC' });
  const shown = isByDay ? time.days(days) : `${weekday.format(new Date(day))} ${time.day(day)}`;
  const title = t('counts.title', { days: `\u2068${shown}\u2069` });
  const table = useCountTable()(bins, peaks);
  const tsvOf = useTsv();
  const saveAll = useSaveCounts(choice, t('counts.file'));
  const commands = (
    <>
      <CopyButton label={t('counts.copy')} text={() => Promise.resolve(tsvOf(table))} />
      {!isByDay && daysIn(days) > 1 && (
        <Button kind="quiet" icon="download" disabled={saveAll.isPending} onClick={() => saveAll.mutate()}>
          {t('counts.csvOfDays', { count: daysIn(days) })}
        </Button>
      )}
    </>
  );
  return (
    <CardFrame {...{ title, zone, commands, table }} subject={name} n={traffic('vehicles', { count })}>
      {!isByDay && <DaySwitch {...{ days, day }} onChooseDay={(chosen) => onChange({ day: chosen })} />}
      {bins.every(({ status }) => status === 'GAP') ? (
        <NothingKnown
          isCoarser={bins.some(({ reason }) => reason)}
          interval={interval}
          onChooseInterval={(next) => onChange({ interval: next })}
        />
      ) : (
        <>
          <CountsTable label={`${title}, ${name}`} {...{ bins, columns, peaks, interval }} />
          <StatusLegend statuses={bins.map(({ status }) => status)} />
          <p className="text-sm text-muted">{t('counts.note')}</p>
        </>
      )}
    </CardFrame>
  );
}

interface NothingKnownProps {
  /** Whether there are counts of longer intervals. */
  readonly isCoarser: boolean;
  readonly interval: CountsChoice['interval'];
  readonly onChooseInterval: (interval: CountsChoice['interval']) => void;
}

/** Shown in place of a table of gaps, with what to do. */
function NothingKnown({ isCoarser, interval, onChooseInterval }: NothingKnownProps) {
  const { t } = useTranslation('studies');
  if (!isCoarser)
    return (
      <Empty icon="none" title={t('counts.nothing')}>
        {t('counts.nothingText')}
      </Empty>
    );
  const next = interval === '15min' ? '60min' : 'day';
  return (
    <Empty
      icon="time"
      title={t('counts.coarser')}
      action={
        <Button onClick={() => onChooseInterval(next)}>
          {t(next === 'day' ? 'counts.useDays' : 'counts.useHours')}
        </Button>
      }
    />
  );
}

interface DaySwitchProps {
  readonly days: DayRange;
  readonly day: string;
  readonly onChooseDay: (day: string) => void;
}

/** Shows the day before or after, or another day of the period. */
export function DaySwitch({ days, day, onChooseDay }: DaySwitchProps) {
  const { t } = useTranslation('studies');
  if (daysIn(days) === 1) return null;
  const step = (direction: -1 | 1) => moved({ startDate: day, endDate: day }, direction).startDate;
  return (
    <div className="flex flex-wrap items-end gap-2 print:hidden">
      <Button
        icon="previous"
        iconOnly
        aria-label={t('counts.dayBefore')}
        disabled={day <= days.startDate}
        onClick={() => onChooseDay(step(-1))}
      />
      <DateField
        className="w-40"
        label={t('counts.dayShown')}
        value={day}
        min={days.startDate}
        max={days.endDate}
        onChange={(chosen) => chosen && onChooseDay(chosen)}
      />
      <Button
        icon="next"
        iconOnly
        aria-label={t('counts.dayAfter')}
        disabled={day >= days.endDate}
        onClick={() => onChooseDay(step(1))}
      />
    </div>
  );
}
