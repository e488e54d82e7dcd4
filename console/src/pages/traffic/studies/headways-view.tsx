import type { HeadwaysOfPlace } from '@gantry/contract/headways';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { CardFrame } from '../../../shared/chart/card-frame.tsx';
import { GAP } from '../../../shared/chart/use-cell-text.ts';
import { useZoneOfDays } from '../../../shared/chart/use-zone-note.ts';
import type { ChartTable } from '../../../shared/csv/csv.ts';
import { service } from '../../../shared/service/service.ts';
import { useServiceTime } from '../../../shared/time/use-time.ts';
import { ScrolledTable } from '../../../ui/scrolled-table.tsx';
import { usePlaceName } from '../place.tsx';
import { useTimesText } from './speed-filters.tsx';
import { partOfWeek, type SpeedChoice } from './speed-study.ts';
import { Loaded } from './states.tsx';
import { FigureTile, Tiles } from './tile.tsx';
import { useNumbers } from './use-numbers.ts';

type HeadwaysChoice = Pick<SpeedChoice, 'place' | 'days' | 'weekdays' | 'hours'>;
type Lane = HeadwaysOfPlace['lanes'][number];

/** The headways at a place, as tiles, and those of each lane. */
export function HeadwaysView({ choice }: { readonly choice: HeadwaysChoice }) {
  const headways = useQuery({
    ...service.traffic.getHeadways.queryOptions({
      ...choice.place,
      ...choice.days,
      ...partOfWeek(choice),
    }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  return (
    <Loaded queries={[headways]}>
      {() =>
        headways.data && (
          <>
            <HeadwayTiles {...{ choice, headways: headways.data }} />
            <LanesCard {...{ choice, lanes: headways.data.lanes }} n={headways.data.n} />
          </>
        )
      }
    </Loaded>
  );
}

function HeadwayTiles({ choice, headways }: { choice: HeadwaysChoice; headways: HeadwaysOfPlace }) {
  const { t } = useTranslation('studies');
  const { number, share } = useNumbers();
  const time = useServiceTime();
  const name = usePlaceName(choice.place);
  const times = useTimesText()(choice);
  const { n, derived, vehicles, status, reason } = headways;
  const seconds = t('units.seconds');
  const subject = [
    [t('place'), name],
    [t('period'), time.days(choice.days)],
    [t('speed.times'), times],
    [t('zone'), time.zone],
  ] as const;
  const common = {
    n: t('headways.n', { n: number(n) }),
    method:
      derived === 0
        ? t('methods.reported')
        : derived === n
          ? t('methods.derived')
          : t('methods.partlyDerived'),
    status,
    reason,
    more: [
      [t('headways.vehicles'), number(vehicles)],
      [t('headways.derived'), number(derived)],
    ],
  } as const;
  const figures = [
    { kind: 'meanHeadway', label: t('headways.mean'), value: number(headways.mean, 1), unit: seconds },
    { kind: 'medianHeadway', label: t('headways.median'), value: number(headways.median, 1), unit: seconds },
    { kind: 'closeHeadways', label: t('headways.under2'), value: share(headways.shareUnder2) },
    { kind: 'closeHeadways', label: t('headways.under4'), value: share(headways.shareUnder4) },
  ] as const;
  return (
    <Tiles>
      {figures.map((figure) => (
        <FigureTile key={figure.label} figure={{ ...figure, ...common }} subject={subject} />
      ))}
    </Tiles>
  );
}

/** The headways of each lane, as a table and a file. */
function LanesCard({ choice, lanes, n }: { choice: HeadwaysChoice; lanes: readonly Lane[]; n: number }) {
  const { t } = useTranslation('studies');
  const { number, share } = useNumbers();
  const { place, days } = choice;
  const name = usePlaceName(place);
  const zone = useZoneOfDays(days);
  const textOf = ({ direction, lane }: Lane) =>
    [
      direction === undefined ? null : String(direction),
      lane === undefined ? t('headways.allLanes') : String(lane),
    ]
      .filter((part) => part !== null)
      .join(' · ');
  const seconds = (header: string) =>
    ({ header, kind: 'number', digits: 1, unit: t('units.seconds') }) as const;
  const table: ChartTable = {
    columns: [
      { header: t('headways.lane'), kind: 'text' },
      { header: t('headways.number'), kind: 'number' },
      seconds(t('headways.mean')),
      seconds(t('headways.median')),
      { header: t('headways.under2'), kind: 'share' },
      { header: t('headways.under4'), kind: 'share' },
    ],
    rows: lanes.map((lane) => [
      textOf(lane),
      lane.n,
      lane.mean,
      lane.median,
      lane.shareUnder2,
      lane.shareUnder4,
    ]),
  };
  const figure = (header: string, of: (lane: Lane) => string | null) => ({
    ...{ header, isFigure: true, className: 'border-b' },
    cell: (lane: Lane) => of(lane) ?? GAP,
  });
  if (lanes.length === 0) return null;
  return (
    <CardFrame
      title={t('headways.byLane')}
      subject={name}
      {...{ zone, table }}
      n={t('headways.n', { n: number(n) })}
    >
      <ScrolledTable
        label={t('headways.byLane')}
        className="max-h-none max-w-3xl"
        head="bg-surface"
        columns={[
          { header: t('headways.lane'), className: 'border-b', cell: (lane) => <bdi>{textOf(lane)}</bdi> },
          figure(t('headways.number'), (lane) => number(lane.n)),
          figure(`${t('headways.mean')} (${t('units.seconds')})`, ({ mean }) => number(mean, 1)),
          figure(`${t('headways.median')} (${t('units.seconds')})`, ({ median }) => number(median, 1)),
          figure(t('headways.under2'), ({ shareUnder2 }) => share(shareUnder2)),
          figure(t('headways.under4'), ({ shareUnder4 }) => share(shareUnder4)),
        ]}
        rows={lanes}
        keyOf={({ sensorId, direction, lane }) => `${sensorId} ${direction} ${lane}`}
      />
    </CardFrame>
  );
}
