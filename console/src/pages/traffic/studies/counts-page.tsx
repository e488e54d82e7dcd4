import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { dayWithin } from '../../../shared/range/days.ts';
import { useToday } from '../../../shared/range/range-picker.tsx';
import { Select } from '../../../ui/select.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { chosenSubject } from '../comparison.ts';
import { divisions } from '../search.ts';
import { TrafficFrame } from '../traffic-frame.tsx';
import { CountsView } from './counts-view.tsx';
import { PeakWindows, peakWindows } from './peak-windows.tsx';
import { MakeStudy } from './signing/study-dialog.tsx';
import { ChoosePlace } from './states.tsx';

/** The counts of a place in 15 minutes, hours or days, with the peak hours. */
export function CountsPage() {
  const today = useToday();
  return today === null ? <Skeleton rows={12} /> : <Counts today={today} />;
}

function Counts({ today }: { readonly today: string }) {
  const { t } = useTranslation('studies');
  const { t: traffic } = useTranslation('traffic');
  const search = useSearch({ from: '/shell/traffic/counts' });
  const navigate = useNavigate({ from: '/traffic/counts' });
  const change = (values: Readonly<Record<string, unknown>>) =>
    void navigate({ search: (all) => ({ ...all, ...values }) });
  const { place, days } = chosenSubject(search, today);
  const { interval = '15min', columns = 'direction', am, pm } = search;
  const day = dayWithin(days, search.day, today);
  const choices = (
    <>
      <Select
        label={traffic('interval.label')}
        value={interval}
        options={(['15min', '60min', 'day'] as const).map((value) => ({
          value,
          label: traffic(`interval.${value}`),
        }))}
        onChange={(value) => change({ interval: value })}
      />
      <Select
        label={t('counts.columns')}
        value={columns}
        options={divisions.map((value) => ({ value, label: t(`counts.by.${value}`) }))}
        onChange={(value) => change({ columns: value })}
      />
      <PeakWindows windows={{ am, pm }} onChange={change} />
    </>
  );
  return (
    <TrafficFrame
      {...{ today, place, days, choices }}
      onChange={change}
      commands={
        place && (
          <MakeStudy
            about={{ kind: 'VOLUME', place, days, options: { interval, windows: peakWindows({ am, pm }) } }}
          />
        )
      }
    >
      {place ? (
        <CountsView
          choice={{ place, days, day, interval, division: columns, windows: { am, pm } }}
          onChange={change}
        />
      ) : (
        <ChoosePlace />
      )}
    </TrafficFrame>
  );
}
