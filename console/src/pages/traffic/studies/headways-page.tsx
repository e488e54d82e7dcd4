import { speedUnitNames } from '@gantry/contract/values';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useToday } from '../../../shared/range/range-picker.tsx';
import { Select } from '../../../ui/select.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { chosenSubject } from '../comparison.ts';
import { TrafficFrame } from '../traffic-frame.tsx';
import { DensityView } from './density-view.tsx';
import { HeadwaysView } from './headways-view.tsx';
import { TimesFilter } from './speed-filters.tsx';
import { ChoosePlace } from './states.tsx';

/** How closely vehicles follow each other at a place, and how many of them are on a length of the road. */
export function HeadwaysPage() {
  const today = useToday();
  return today === null ? <Skeleton rows={12} /> : <Headways today={today} />;
}

const intervals = ['5min', '15min', '60min'] as const;

function Headways({ today }: { readonly today: string }) {
  const { t } = useTranslation('studies');
  const { t: traffic } = useTranslation('traffic');
  const search = useSearch({ from: '/shell/traffic/headways' });
  const navigate = useNavigate({ from: '/traffic/headways' });
  const change = (values: Readonly<Record<string, unknown>>) =>
    void navigate({ search: (all) => ({ ...all, ...values }) });
  const { place, days } = chosenSubject(search, today);
  const { interval = '60min', units, weekdays, hours } = search;
  const choices = (
    <>
      <TimesFilter choice={{ weekdays, hours }} onChange={change} />
      <Select
        label={traffic('interval.label')}
        value={interval}
        options={intervals.map((value) => ({ value, label: traffic(`interval.${value}`) }))}
        onChange={(value) => change({ interval: value })}
      />
      <Select
        label={t('speed.units')}
        value={units ?? ''}
        options={[
          { value: '', label: t('speed.ownUnits') },
          ...speedUnitNames.map((value) => ({ value: value as string, label: t(`units.${value}`) })),
        ]}
        onChange={(value) => change({ units: value || undefined })}
      />
    </>
  );
  return (
    <TrafficFrame {...{ today, place, days, choices }} onChange={change}>
      {place ? (
        <>
          <HeadwaysView choice={{ place, days, weekdays, hours }} />
          <DensityView choice={{ place, days, interval, units }} />
        </>
      ) : (
        <ChoosePlace />
      )}
    </TrafficFrame>
  );
}
