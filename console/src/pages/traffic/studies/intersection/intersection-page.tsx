import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { dayWithin } from '../../../../shared/range/days.ts';
import { useToday } from '../../../../shared/range/range-picker.tsx';
import { Select } from '../../../../ui/select.tsx';
import { Skeleton } from '../../../../ui/skeleton.tsx';
import { chosenSubject } from '../../comparison.ts';
import { TrafficFrame } from '../../traffic-frame.tsx';
import { PeakWindows, peakWindows } from '../peak-windows.tsx';
import { MakeStudy } from '../signing/study-dialog.tsx';
import { ChoosePlace } from '../states.tsx';
import { IntersectionView } from './intersection-view.tsx';

/** The turning movement count of an intersection, as a drawing and as tables. */
export function IntersectionPage() {
  const today = useToday();
  return today === null ? <Skeleton rows={12} /> : <Intersection today={today} />;
}

function Intersection({ today }: { readonly today: string }) {
  const { t } = useTranslation('studies');
  const { t: traffic } = useTranslation('traffic');
  const search = useSearch({ from: '/shell/traffic/intersection' });
  const navigate = useNavigate({ from: '/traffic/intersection' });
  const change = (values: Readonly<Record<string, unknown>>) =>
    void navigate({ search: (all) => ({ ...all, ...values }) });
  const { place, days } = chosenSubject(search, today);
  const { interval = '15min', side = 'right', part, am, pm } = search;
  const day = dayWithin(days, search.day, today);
  const choices = (
    <>
      <Select
        label={traffic('interval.label')}
        value={interval}
        options={(['15min', '60min'] as const).map((value) => ({
          value,
          label: traffic(`interval.${value}`),
        }))}
        onChange={(value) => change({ interval: value })}
      />
      <PeakWindows windows={{ am, pm }} onChange={change} />
      <Select
        label={t('intersection.side')}
        value={side}
        options={(['right', 'left'] as const).map((value) => ({
          value,
          label: t(`intersection.sides.${value}`),
        }))}
        onChange={(value) => change({ side: value === 'right' ? undefined : value })}
      />
    </>
  );
  return (
    <TrafficFrame
      {...{ today, place, days, choices }}
      onChange={change}
      commands={
        place && (
          <MakeStudy
            about={{ kind: 'TURNING_MOVEMENTS', place, days, options: { windows: peakWindows({ am, pm }) } }}
          />
        )
      }
    >
      {place ? (
        <IntersectionView
          choice={{ place, days, day, interval, windows: { am, pm }, side, part }}
          onChange={change}
        />
      ) : (
        <ChoosePlace />
      )}
    </TrafficFrame>
  );
}
