import type { AnnualInput } from '@gantry/contract/figures';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useToday } from '../../../shared/range/range-picker.tsx';
import { Select } from '../../../ui/select.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { chosenSubject } from '../comparison.ts';
import { TrafficFrame } from '../traffic-frame.tsx';
import { AnnualView } from './annual-view.tsx';
import { DailyView } from './daily-view.tsx';
import { NetworkAadtCard } from './network-aadt-card.tsx';
import { MakeStudy } from './signing/study-dialog.tsx';
import { capital } from './speed-filters.tsx';
import { ChoosePlace } from './states.tsx';

/** The daily averages of a period, and the annual averages, factors and design hours of a year. */
export function AnnualPage() {
  const today = useToday();
  return today === null ? <Skeleton rows={12} /> : <Annual today={today} />;
}

/** The number of years to choose from. */
const YEARS = 12;
const methods = ['FHWA', 'AASHTO', 'SIMPLE'] as const;

function Annual({ today }: { readonly today: string }) {
  const { t, i18n } = useTranslation('studies');
  const search = useSearch({ from: '/shell/traffic/annual' });
  const navigate = useNavigate({ from: '/traffic/annual' });
  const change = (values: Readonly<Record<string, unknown>>) =>
    void navigate({ search: (all) => ({ ...all, ...values }) });
  const { place, days } = chosenSubject(search, today);
  const thisYear = Number(today.slice(0, 4));
  // The last year that is over has an average that stays.
  const { year = thisYear - 1, method = 'FHWA' } = search;
  const allowMissing: AnnualInput['allowMissing'] = search.allowMissing === 1 ? 1 : 0;
  const offered = Array.from({ length: YEARS }, (_, at) => thisYear - at);
  const years = offered.includes(year) ? offered : [...offered, year].sort((a, b) => b - a);
  const choices = (
    <>
      <Select
        label={t('annual.year')}
        value={String(year)}
        options={years.map((each) => ({ value: String(each), label: String(each) }))}
        onChange={(value) => change({ year: Number(value) })}
      />
      <Select
        label={t('annual.method')}
        value={method}
        options={methods.map((value) => ({ value, label: capital(t(`methods.${value}`), i18n.language) }))}
        onChange={(value) => change({ method: value })}
      />
      {method !== 'SIMPLE' && (
        <Select
          label={t('annual.allowMissing')}
          value={String(allowMissing)}
          options={(['0', '1'] as const).map((value) => ({ value, label: t(`annual.missing.${value}`) }))}
          onChange={(value) => change({ allowMissing: value === '1' ? 1 : undefined })}
        />
      )}
    </>
  );
  return (
    <TrafficFrame
      {...{ today, place, days, choices }}
      onChange={change}
      commands={place && <MakeStudy about={{ kind: 'VOLUME', place, days }} />}
    >
      {place ? (
        <>
          <DailyView {...{ place, days }} />
          <AnnualView input={{ ...place, year, method, allowMissing }} place={place} />
        </>
      ) : (
        <>
          <ChoosePlace />
          {year < thisYear && <NetworkAadtCard {...{ year, method, allowMissing }} />}
        </>
      )}
    </TrafficFrame>
  );
}
