import { speedUnitNames } from '@gantry/contract/values';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { besides, type DayRange } from '../../../shared/range/days.ts';
import { RangePicker, useToday } from '../../../shared/range/range-picker.tsx';
import { partLook } from '../../../ui/links.tsx';
import { Select } from '../../../ui/select.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { chosenSubject, idsOf, type Place, placeOf } from '../comparison.ts';
import { PlaceLookUp } from '../place.tsx';
import { TrafficFrame } from '../traffic-frame.tsx';
import { MakeStudy, type StudyAbout } from './signing/study-dialog.tsx';
import { SpeedComparison } from './speed-comparison.tsx';
import { SpeedFilters } from './speed-filters.tsx';
import { speedOptions } from './speed-study.ts';
import { SpeedView } from './speed-view.tsx';
import { ChoosePlace } from './states.tsx';

/** The speed study of a place, and the comparison of two. */
export function SpeedPage() {
  const today = useToday();
  return today === null ? <Skeleton rows={12} /> : <Speeds today={today} />;
}

function Speeds({ today }: { readonly today: string }) {
  const { t } = useTranslation('studies');
  const search = useSearch({ from: '/shell/traffic/speeds' });
  const navigate = useNavigate({ from: '/traffic/speeds' });
  const change = (values: Readonly<Record<string, unknown>>) =>
    void navigate({ search: (all) => ({ ...all, ...values }) });
  const { place, days } = chosenSubject(search, today);
  const { view, units, method = 'LINEAR', classes, weekdays, hours, vehicleClass } = search;
  const earlier = besides(days, -1);
  const { beforeStart: startDate = earlier.startDate, beforeEnd: endDate = earlier.endDate } = search;
  const before = {
    place:
      placeOf({
        locationId: search.beforeLocationId,
        pointId: search.beforePointId,
        sensorId: search.beforeSensorId,
      }) ?? place,
    days: startDate <= endDate ? { startDate, endDate } : { startDate: endDate, endDate: startDate },
  };
  const choice = { days, units, method, classes, weekdays, hours, vehicleClass };
  const options = view === 'compare' ? { ...(units && { units }) } : speedOptions(choice);
  const about: StudyAbout | null =
    place &&
    options &&
    (view === 'compare'
      ? { kind: 'COMPARISON', ...before, options, after: { place, days } }
      : { kind: 'SPEED', place, days, options });
  const choices = (
    <>
      <Select
        label={t('speed.units')}
        value={units ?? ''}
        options={[
          { value: '', label: t('speed.ownUnits') },
          ...speedUnitNames.map((value) => ({ value: value as string, label: t(`units.${value}`) })),
        ]}
        onChange={(value) => change({ units: value || undefined })}
      />
      {view === undefined && <SpeedFilters choice={choice} onChange={change} />}
      {view === 'compare' && <BeforeFields {...{ today, before }} onChange={change} />}
    </>
  );
  return (
    <TrafficFrame
      {...{ today, place, days, choices }}
      onChange={change}
      commands={about && <MakeStudy about={about} />}
    >
      <nav aria-label={t('speed.views.label')} className="flex flex-wrap gap-1 px-4 pt-2">
        {([undefined, 'compare'] as const).map((each) => (
          <Link
            key={each ?? 'study'}
            from="/traffic/speeds"
            to="/traffic/speeds"
            search={(all) => ({ ...all, view: each })}
            aria-current={view === each ? 'page' : undefined}
            className={partLook(view === each)}
          >
            {t(`speed.views.${each ?? 'study'}`)}
          </Link>
        ))}
      </nav>
      {place === null || before.place === null ? (
        <ChoosePlace />
      ) : view === 'compare' ? (
        <SpeedComparison
          before={{ place: before.place, days: before.days }}
          after={{ place, days }}
          {...{ units, today }}
        />
      ) : (
        <SpeedView choice={{ ...choice, place }} />
      )}
    </TrafficFrame>
  );
}

interface BeforeFieldsProps {
  readonly today: string;
  readonly before: { readonly place: Place | null; readonly days: DayRange };
  readonly onChange: (change: Readonly<Record<string, unknown>>) => void;
}

/** The fields for the study before: its days, and its place if that is another one. */
function BeforeFields({ today, before, onChange }: BeforeFieldsProps) {
  const { t } = useTranslation('studies');
  return (
    <fieldset className="flex min-w-0 flex-wrap items-end gap-x-3 gap-y-2">
      <legend className="sr-only">{t('compare.before')}</legend>
      <RangePicker
        range={before.days}
        today={today}
        label={t('compare.before')}
        onChange={(range) => onChange({ beforeStart: range.startDate, beforeEnd: range.endDate })}
      />
      <div className="w-64 max-w-full max-sm:w-full">
        <PlaceLookUp
          label={t('compare.beforePlace')}
          place={before.place}
          onChoose={(chosen) =>
            onChange({
              beforeLocationId: idsOf(chosen).locationId,
              beforePointId: idsOf(chosen).pointId,
              beforeSensorId: idsOf(chosen).sensorId,
            })
          }
        />
      </div>
    </fieldset>
  );
}
