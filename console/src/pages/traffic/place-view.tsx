import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useCodeNames } from '../../shared/events/codes.ts';
import { Failure } from '../../shared/service/failure.tsx';
import { useServiceTime } from '../../shared/time/use-time.ts';
import { classes } from '../../ui/classes.ts';
import { Empty } from '../../ui/empty.tsx';
import { Skeleton, ThinBar, useLasting } from '../../ui/skeleton.tsx';
import type { Subject } from './comparison.ts';
import { Differences } from './figures.tsx';
import { FlowTiles } from './flow-tiles.tsx';
import type { FlowView } from './flow-view.ts';
import { HistogramCard } from './histogram-card.tsx';
import { alone, overlay } from './overlay.ts';
import { usePlaceName } from './place.tsx';
import { SpeedsCard, VolumeCard, WeekCard } from './place-cards.tsx';
import type { usePlaceTraffic } from './use-place-traffic.ts';
import { useVehicles, VehicleTypes } from './vehicle-types.tsx';

type Traffic = ReturnType<typeof usePlaceTraffic>;

interface PlaceViewProps {
  readonly subject: Subject;
  readonly other: Subject | null;
  readonly traffic: Traffic;
  readonly otherTraffic: Traffic;
  readonly shows: 'volume' | 'speed';
  readonly vehicleType: string | undefined;
}

/** Isolates a name or a date, so that its order does not change within text of the opposite direction. */
const isolated = (text: string): string => `\u2068${text}\u2069`;

/** How the charts name what they show: the two subjects, in short, and the first one in full. */
function useNames({
  subject,
  other,
  vehicleType,
}: Pick<PlaceViewProps, 'subject' | 'other' | 'vehicleType'>) {
  const { t } = useTranslation('traffic');
  const codes = useCodeNames();
  const name = usePlaceName(subject.place);
  const otherName = usePlaceName(other?.place ?? null);
  const time = useServiceTime();
  const daysText = ({ days }: Subject): string => time.days(days);
  const isSameTime = other !== null && daysText(other) === daysText(subject);
  const names = isSameTime ? [name, otherName] : [daysText(subject), other ? daysText(other) : ''];
  const [firstName = '', secondName = ''] = names.map(isolated);
  const described = [name, daysText(subject), vehicleType ? codes.vehicle(vehicleType) : '']
    .filter(Boolean)
    .map(isolated)
    .join(', ');
  const title = other ? t('comparison.subject', { first: described, second: secondName }) : described;
  return { firstName, secondName, otherName, isSameTime, described, title };
}

/** The figures and charts of the traffic at a place, with those of the comparison, if there is one. */
export function PlaceView({ subject, other, traffic, otherTraffic, shows, vehicleType }: PlaceViewProps) {
  const { t } = useTranslation('traffic');
  const time = useServiceTime();
  const vehicles = useVehicles();
  const { flow, speeds, week } = traffic;
  const second = otherTraffic.flow;
  const { firstName, secondName, otherName, isSameTime, described, title } = useNames({
    subject,
    other,
    vehicleType,
  });
  const view = useMemo<FlowView | null>(
    () =>
      flow && {
        pairs: second ? overlay(flow.points, second.points, time) : alone(flow.points),
        first: flow,
        second,
        firstName,
        secondName,
        subject: title,
        isSameTime,
      },
    [flow, second, firstName, secondName, title, isSameTime, time],
  );
  const isOutdated = traffic.isOutdated || (other !== null && otherTraffic.isOutdated);
  const looksOutdated = useLasting(isOutdated);
  const error = traffic.error ?? otherTraffic.error;
  if (error)
    return (
      <div className="p-4">
        <Failure
          error={error}
          onRetry={() => {
            traffic.refetch();
            if (other) otherTraffic.refetch();
          }}
        />
      </div>
    );
  const [start, end] = [flow?.points[0]?.start, flow?.points.at(-1)?.end];
  if (!view || !flow || !start || !end) return <Skeleton rows={12} />;
  const range = { from: start, until: end };
  return (
    <>
      <ThinBar active={traffic.isFetching || otherTraffic.isFetching} />
      <div
        inert={isOutdated}
        className={classes('grid gap-3 px-4 py-3 xl:grid-cols-2', looksOutdated && 'stale')}
      >
        <div className="min-w-0 xl:col-span-2">
          {second ? (
            <Differences {...{ first: flow, second, firstName, secondName }} />
          ) : (
            <FlowTiles {...{ flow, subject }} />
          )}
        </div>
        {!flow.volume && !second && (
          <div className="xl:col-span-2">
            <Empty icon="traffic" title={flow.volume === null ? t('empty.gap') : t('empty.none')}>
              {flow.volume === null ? t('empty.gapText') : t('empty.noneText')}
            </Empty>
          </div>
        )}
        <VolumeCard view={view} {...range} />
        <SpeedsCard view={view} {...range} />
        {speeds && (
          <HistogramCard
            first={speeds}
            second={otherTraffic.speeds}
            units={flow.units}
            {...{ firstName, secondName, subject: title }}
            {...range}
          />
        )}
        {week && (
          <WeekCard
            week={week}
            subject={described}
            n={vehicles(flow.volume ?? 0)}
            shows={shows}
            units={flow.units}
            name={other ? firstName : undefined}
            {...range}
          />
        )}
        <VehicleTypes
          first={flow}
          second={second}
          {...{ firstName, secondName, subject: title }}
          {...range}
        />
        {other && otherTraffic.week && second && (
          <WeekCard
            week={otherTraffic.week}
            subject={[otherName, time.days(other.days)].map(isolated).join(', ')}
            n={vehicles(second.volume ?? 0)}
            shows={shows}
            units={flow.units}
            name={secondName}
            from={second.points[0]?.start ?? start}
            until={second.points.at(-1)?.end ?? end}
          />
        )}
      </div>
    </>
  );
}
