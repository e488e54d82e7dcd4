import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { daysIn, rangeOfPreset } from '../../../../shared/range/days.ts';
import { useToday } from '../../../../shared/range/range-picker.tsx';
import { Button } from '../../../../ui/button.tsx';
import { Empty } from '../../../../ui/empty.tsx';
import { Select } from '../../../../ui/select.tsx';
import { Skeleton } from '../../../../ui/skeleton.tsx';
import { chosenSubject, NO_PLACE } from '../../comparison.ts';
import { TrafficFrame } from '../../traffic-frame.tsx';
import { NetworkQuality } from './network-quality.tsx';
import { PlaceQuality } from './place-quality.tsx';

/** The longest range that the service judges at once, in days. */
const MAX_DAYS = 366;

/** What is known about the quality of the data of a place or, without one, of all. */
export function QualityPage() {
  const today = useToday();
  return today === null ? <Skeleton rows={12} /> : <Quality today={today} />;
}

function Quality({ today }: { readonly today: string }) {
  const { t } = useTranslation('studies');
  const { t: traffic } = useTranslation('traffic');
  const search = useSearch({ from: '/shell/traffic/quality' });
  const navigate = useNavigate({ from: '/traffic/quality' });
  const change = (values: Readonly<Record<string, unknown>>) =>
    void navigate({ search: (all) => ({ ...all, ...values }) });
  const usual = rangeOfPreset('last30', today);
  const { place, days } = chosenSubject(
    search.startDate || search.endDate ? search : { ...search, ...usual },
    today,
  );
  const { severity } = search;
  const day = search.day && search.day >= days.startDate && search.day <= days.endDate ? search.day : null;
  const choices = place && (
    <Select
      label={t('quality.severity')}
      value={severity ?? ''}
      options={[
        { value: '', label: t('quality.allSeverities') },
        ...(['REJECT', 'SUSPECT', 'INFO'] as const).map((value) => ({
          value: value as string,
          label: t(`quality.severities.${value}`),
        })),
      ]}
      onChange={(value) => change({ severity: value || undefined })}
    />
  );
  const commands = place && (
    <Button onClick={() => change({ ...NO_PLACE, day: undefined })}>{traffic('place.all')}</Button>
  );
  return (
    <TrafficFrame {...{ today, place, days, choices, commands }} onChange={change}>
      {daysIn(days) > MAX_DAYS ? (
        <Empty icon="calendar" title={t('quality.tooLong')}>
          {t('quality.tooLongText', { count: MAX_DAYS })}
        </Empty>
      ) : place ? (
        <PlaceQuality {...{ place, days, severity, day }} onChange={change} />
      ) : (
        <NetworkQuality days={days} onChange={change} />
      )}
    </TrafficFrame>
  );
}
