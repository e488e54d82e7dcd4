import type { CountsOfPlace, DailyVolumesOfPlace, PeakHoursOfPlace } from '@gantry/contract/figures';
import type { StudyWithFigures } from '@gantry/contract/studies';
import type { TurningMovementsOfPlace } from '@gantry/contract/turning-movements';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useCellText } from '../../../../shared/chart/use-cell-text.ts';
import { daysIn } from '../../../../shared/range/days.ts';
import { createTimeFormat } from '../../../../shared/time/format.ts';
import { useTimeSettings } from '../../../../shared/time/zone.ts';
import { Badge } from '../../../../ui/badge.tsx';
import { placeOf } from '../../comparison.ts';
import { TurningFigures } from '../intersection/intersection-view.tsx';
import { PeakHoursCard } from '../peak-hours-card.tsx';
import { SpeedFigures } from './speed-figures.tsx';
import { revived } from './study-options.ts';
import { VolumeFigures } from './volume-figures.tsx';

/** The figures of a study: those that were frozen or, of a draft, the present ones. */
export function StudyFigures({ study }: { readonly study: StudyWithFigures }) {
  const { t } = useTranslation('studies');
  const textOf = useCellText();
  const { n, coverage } = study.figures as { n?: number; coverage?: number };
  return (
    <>
      <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <p className="figures text-muted">
          {n !== undefined && t('n', { n: textOf(n, { header: '', kind: 'number' }) })}
          {coverage !== undefined &&
            ` · ${t('known', { share: textOf(coverage, { header: '', kind: 'share' }) })}`}
        </p>
        {study.status === 'DRAFT' && (
          <Badge tone="medium" icon="edit">
            {t('signing.present')}
          </Badge>
        )}
      </div>
      <OfKind study={study} />
    </>
  );
}

function OfKind({ study }: { readonly study: StudyWithFigures }) {
  const search = useSearch({ from: '/shell/traffic/studies/$studyId' });
  const navigate = useNavigate({ from: '/traffic/studies/$studyId' });
  const onChange = (values: Readonly<Record<string, unknown>>) =>
    void navigate({ search: (all) => ({ ...all, ...values }), replace: true });
  const days = useDays(study);
  const place = placeOf(study.options as Parameters<typeof placeOf>[0]) ?? { locationId: '' };
  const day =
    search.day && search.day >= days.startDate && search.day <= days.endDate ? search.day : days.startDate;
  const figures = revived(study.figures);
  const { placeName: name } = study;
  switch (study.kind) {
    case 'TURNING_MOVEMENTS':
      return <OfTurning {...{ figures, study, days, day, onChange }} />;
    case 'PEAK_HOURS':
      return (
        <PeakHoursCard
          {...{ place, days, day }}
          peaks={figures as unknown as PeakHoursOfPlace}
          onChooseDay={(chosen) => onChange({ day: chosen })}
        />
      );
    case 'VOLUME':
      return (
        <VolumeFigures
          {...{ place, days, day, name, onChange }}
          figures={
            figures as unknown as CountsOfPlace & DailyVolumesOfPlace & { peaks: PeakHoursOfPlace | null }
          }
        />
      );
    default:
      return <SpeedFigures study={study} />;
  }
}

interface OfTurningProps {
  readonly study: StudyWithFigures;
  readonly figures: Record<string, unknown>;
  readonly days: { readonly startDate: string; readonly endDate: string };
  readonly day: string;
  readonly onChange: (change: Readonly<Record<string, unknown>>) => void;
}

function OfTurning({ study, figures, days, day, onChange }: OfTurningProps) {
  const { part, side = 'right' } = useSearch({ from: '/shell/traffic/studies/$studyId' });
  const isoDay = useIsoDay(study);
  const all = figures as unknown as TurningMovementsOfPlace;
  const isOneDay = daysIn(days) === 1;
  const ofDay = {
    ...all,
    peaks: all.peaks.filter(({ date }) => date === day),
    bins: all.bins.filter(({ start }) => isoDay(start) === day),
  };
  const { placeName: name } = study;
  const place = { locationId: '' };
  return (
    <TurningFigures
      choice={{
        place,
        name,
        days,
        day,
        side,
        part,
        interval: '15min',
        windows: { am: undefined, pm: undefined },
      }}
      parts={['AM', 'MIDDAY', 'PM', 'DAY', isOneDay ? 'total' : 'period']}
      ofDay={ofDay}
      ofPeriod={isOneDay || part !== 'period' ? null : all}
      onChange={onChange}
    />
  );
}

/** Days in the time zone in which a study was created. */
function useIsoDay({ timezone }: StudyWithFigures) {
  const settings = useTimeSettings();
  return createTimeFormat(timezone, 'en', settings).isoDay;
}

function useDays(study: StudyWithFigures) {
  const isoDay = useIsoDay(study);
  return { startDate: isoDay(study.range.startDate), endDate: isoDay(study.range.endDate) };
}
