import type { TurningMovementsOfPlace } from '@gantry/contract/turning-movements';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { CardFrame } from '../../../../shared/chart/card-frame.tsx';
import { useZoneNote } from '../../../../shared/chart/use-zone-note.ts';
import { daysIn } from '../../../../shared/range/days.ts';
import { service } from '../../../../shared/service/service.ts';
import { useServiceTime } from '../../../../shared/time/use-time.ts';
import { Button } from '../../../../ui/button.tsx';
import { Empty } from '../../../../ui/empty.tsx';
import { usePlaceName } from '../../place.tsx';
import { countParts } from '../../search.ts';
import { columnsOf } from '../count-table.ts';
import { useCountTable } from '../counts-file.ts';
import { CountsTable } from '../counts-table.tsx';
import { DaySwitch } from '../counts-view.tsx';
import { peakWindows } from '../peak-windows.tsx';
import { Loaded } from '../states.tsx';
import { StatusLegend } from '../statuses.tsx';
import { Diagram } from './diagram.tsx';
import {
  type CountPartName,
  countBins,
  hasMovements,
  type IntersectionChoice,
  type NamedChoice,
  partShown,
} from './figures.ts';
import { IntersectionTiles } from './intersection-tiles.tsx';
import { LegsCard, MovementsCard } from './movements-card.tsx';
import { PartSwitch, usePartText } from './part-switch.tsx';

interface IntersectionViewProps {
  readonly choice: IntersectionChoice;
  /** Changes query parameters of the page. */
  readonly onChange: (change: Readonly<Record<string, unknown>>) => void;
}

/** Reads the count of a day and, if it is shown, that of the whole period. */
export function IntersectionView({ choice, onChange }: IntersectionViewProps) {
  const { place, days, day, interval, windows } = choice;
  const name = usePlaceName(place);
  const isPeriod = choice.part === 'period' && daysIn(days) > 1;
  const options = { placeholderData: keepPreviousData, staleTime: 60_000 };
  const input = { ...place, windows: peakWindows(windows) };
  const ofDay = useQuery({
    ...service.traffic.getTurningMovements.queryOptions({
      ...input,
      startDate: day,
      endDate: day,
      interval,
    }),
    ...options,
  });
  const ofPeriod = useQuery({
    ...service.traffic.getTurningMovements.queryOptions({ ...input, ...days, interval: 'day' }),
    ...options,
    enabled: isPeriod,
  });
  return (
    <Loaded queries={[ofDay, ofPeriod]}>
      {() =>
        ofDay.data && (
          <TurningFigures
            choice={{ ...choice, name }}
            parts={countParts.filter((each) => each !== 'period' || daysIn(days) > 1)}
            ofDay={ofDay.data}
            ofPeriod={isPeriod ? (ofPeriod.data ?? null) : null}
            onChange={onChange}
          />
        )
      }
    </Loaded>
  );
}

interface TurningFiguresProps extends Pick<IntersectionViewProps, 'onChange'> {
  readonly choice: NamedChoice;
  /** What can be chosen. */
  readonly parts: readonly CountPartName[];
  readonly ofDay: TurningMovementsOfPlace;
  /** That of the whole period, if it is shown. */
  readonly ofPeriod: TurningMovementsOfPlace | null;
}

/** The tiles, the drawing and the tables of a turning movement count. */
export function TurningFigures({ choice, parts, ofDay, ofPeriod, onChange }: TurningFiguresProps) {
  const { t } = useTranslation('studies');
  const { days, day, side } = choice;
  const onChooseDay = (chosen: string) => onChange({ day: chosen });
  const part = partShown(choice.part, parts, ofDay.peaks);
  const peak = ofDay.peaks.find(({ window }) => window === part) ?? null;
  const all = ofPeriod?.total ?? ofDay.total;
  const isPeak = part !== 'total' && part !== 'period';
  const figures = isPeak ? peak : all;
  const textOfPart = usePartText(ofDay.peaks, days, day);
  const title = t('intersection.title', { part: `\u2068${textOfPart(part)}\u2069` });
  const choosePart = (chosen: CountPartName) => onChange({ part: chosen });
  const switches = (
    <div className="flex flex-wrap items-end gap-x-4 gap-y-2 print:hidden">
      <DaySwitch {...{ days, day, onChooseDay }} />
      <PartSwitch {...{ part, parts, days, choosePart, day }} peaks={ofDay.peaks} />
    </div>
  );
  if (!hasMovements(all))
    return (
      <>
        {daysIn(days) > 1 && switches}
        <NoMovements counted={all.volume > 0} />
      </>
    );
  const bins = ofPeriod?.bins ?? ofDay.bins;
  return (
    <>
      {switches}
      {figures ? (
        <>
          <IntersectionTiles {...{ choice, part, peak, figures, bins }} />
          <MovementsCard
            {...{ title, choice, figures, part, peak }}
            drawing={
              <Diagram
                {...{ figures, all, side }}
                label={t('intersection.drawing', { part: textOfPart(part) })}
              />
            }
          />
          <LegsCard {...{ choice, figures, all }} part={textOfPart(part)} />
        </>
      ) : (
        <NoPeak onShowDay={() => choosePart(parts.includes('total') ? 'total' : 'period')} />
      )}
      <BinsCard {...{ choice, ofDay }} />
    </>
  );
}

function NoPeak({ onShowDay }: { readonly onShowDay: () => void }) {
  const { t } = useTranslation('studies');
  return (
    <Empty
      icon="time"
      title={t('intersection.noPeak')}
      action={<Button onClick={onShowDay}>{t('intersection.showDay')}</Button>}
    >
      {t('intersection.noPeakText')}
    </Empty>
  );
}

function NoMovements({ counted }: { readonly counted: boolean }) {
  const { t } = useTranslation('studies');
  return (
    <Empty icon="none" title={t(counted ? 'intersection.noMovements' : 'counts.nothing')}>
      {t('intersection.noMovementsText')}
    </Empty>
  );
}

/** The table of the intervals of the day. */
function BinsCard({
  choice,
  ofDay,
}: {
  readonly choice: NamedChoice;
  readonly ofDay: TurningMovementsOfPlace;
}) {
  const { t } = useTranslation('studies');
  const { t: traffic } = useTranslation('traffic');
  const time = useServiceTime();
  const { name, day, interval } = choice;
  const bins = countBins(ofDay.bins);
  const columns = columnsOf(bins);
  const [first, last] = [bins[0]?.start ?? new Date(0), bins.at(-1)?.end ?? new Date(1)];
  const zone = useZoneNote(first, last);
  const peaks = ofDay.peaks.map((peak) => ({ ...peak, by: [] }));
  const table = useCountTable()(bins, peaks);
  const title = t('intersection.bins', { day: `\u2068${time.day(day)}\u2069` });
  return (
    <CardFrame
      {...{ title, zone, table }}
      subject={name}
      n={traffic('vehicles', { count: ofDay.total.volume })}
    >
      <CountsTable label={`${title}, ${name}`} {...{ bins, columns, peaks, interval }} />
      <StatusLegend statuses={bins.map(({ status }) => status)} />
    </CardFrame>
  );
}
