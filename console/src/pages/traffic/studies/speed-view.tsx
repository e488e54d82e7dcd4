import type { SpeedStudyOfPlace } from '@gantry/contract/figures';
import { keepPreviousData, skipToken, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useSpan } from '../../../shared/chart/use-zone-note.ts';
import { service } from '../../../shared/service/service.ts';
import { useServiceTime } from '../../../shared/time/use-time.ts';
import { Empty } from '../../../ui/empty.tsx';
import { usePlaceName } from '../place.tsx';
import { SpeedChart } from './speed-chart.tsx';
import { limitDigits, SpeedFigures } from './speed-figures.tsx';
import { useTimesText } from './speed-filters.tsx';
import { type SpeedChoice, speedOptions, verdictOf } from './speed-study.ts';
import { Loaded } from './states.tsx';
import { type FigureFacts, FigureTile, Tiles } from './tile.tsx';
import { useNumbers } from './use-numbers.ts';

/** The speed study of a place: its figures as tiles, their distribution, and all of them as a table. */
export function SpeedView({ choice }: { readonly choice: SpeedChoice }) {
  const { t } = useTranslation('studies');
  const options = speedOptions(choice);
  const input = options && { ...choice.place, ...choice.days, ...options };
  const study = useQuery({
    ...service.traffic.getSpeedStudy.queryOptions(input ?? skipToken),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  const name = usePlaceName(choice.place);
  const subject = useStudySubject(choice);
  const [from, until] = useSpan(choice.days);
  if (input === null)
    return (
      <Empty icon="high" title={t('speed.badClasses')}>
        {t('speed.badClassesText')}
      </Empty>
    );
  return (
    <Loaded queries={[study]}>
      {() => {
        if (!study.data) return null;
        if (study.data.n === 0)
          return (
            <Empty icon="none" title={t('speed.none')}>
              {t('speed.noneText')}
            </Empty>
          );
        const card = { study: study.data, subject: name, from, until };
        return (
          <>
            <SpeedTiles study={study.data} subject={subject} />
            <SpeedChart {...card} />
            <SpeedFigures {...card} facts={subject} />
          </>
        );
      }}
    </Loaded>
  );
}

type Subject = readonly (readonly [name: string, value: string])[];

/** What is studied: the place, the days, the hours and the vehicles. */
function useStudySubject({ place, days, weekdays, hours, vehicleClass }: SpeedChoice): Subject {
  const { t } = useTranslation('studies');
  const time = useServiceTime();
  const name = usePlaceName(place);
  const times = useTimesText();
  return [
    [t('place'), name],
    [t('period'), time.days(days)],
    [t('speed.times'), times({ weekdays, hours })],
    [t('speed.class'), vehicleClass ? t(`classes.${vehicleClass}`) : t('counts.motorVehicles')],
    [t('zone'), time.zone],
  ];
}

interface SpeedTilesProps {
  readonly study: SpeedStudyOfPlace;
  readonly subject: Subject;
}

/** The figures that a study is asked for. */
function SpeedTiles({ study, subject }: SpeedTilesProps) {
  const { t } = useTranslation('studies');
  const { number, share } = useNumbers();
  const { n, status, reason, v15, v50, v85, v95, mean, sd, pace, v85Confidence: interval } = study;
  const unit = t(`units.${study.units}`);
  const speed = (value: number | null) => number(value, 1);
  const range = interval && `\u2066${speed(interval.low)}–${speed(interval.high)}\u2069 ${unit}`;
  const common = { n: t('nSpeeds', { count: n }), status };
  const method = t(`methods.${study.method}`);
  const others = [
    ['V15', v15],
    ['V95', v95],
  ] as const;
  const tiles: readonly (FigureFacts & { lines: readonly (string | null)[] })[] = [
    {
      ...{ ...common, kind: 'v85', label: 'V85', value: speed(v85), unit, method, reason },
      lines: [range && t('speed.interval', { range })],
      more: [[t('speed.intervalLong'), range]],
    },
    {
      ...{ ...common, kind: 'v50', label: t('speed.median'), value: speed(v50), unit, method, reason },
      lines: [
        others
          .flatMap(([name, value]) => (value === null ? [] : `\u2066${name} ${speed(value)}\u2069`))
          .join(' · '),
      ],
      more: others.map(([name, value]) => [name, value === null ? null : `${speed(value)} ${unit}`]),
    },
    {
      ...{ ...common, kind: 'meanSpeed', label: t('speed.mean'), value: speed(mean), unit },
      method: t('methods.mean'),
      lines: [sd === null ? null : t('speed.sd', { sd: `${speed(sd)} ${unit}` })],
    },
    {
      ...{ ...common, kind: 'pace', label: t('speed.pace'), unit, method: t('methods.pace') },
      value: pace && `\u2066${number(pace.from)}–${number(pace.to)}\u2069`,
      lines: pace
        ? [
            t('speed.inPace', { share: share(pace.share) }),
            t('speed.besidePace', { below: share(pace.below), above: share(pace.above) }),
          ]
        : [],
    },
    useOverTile(study),
    useSampleTile(study),
  ];
  return (
    <Tiles>
      {tiles.map(({ lines, ...figure }) => (
        <FigureTile key={figure.kind} {...{ figure, subject }}>
          {lines
            .filter((line) => line !== null && line !== '')
            .map((line) => (
              <p key={line} className="figures text-sm">
                {line}
              </p>
            ))}
        </FigureTile>
      ))}
    </Tiles>
  );
}

/** The shares of vehicles over the limit. */
function useOverTile({ n, status, units, limit, over }: SpeedStudyOfPlace) {
  const { t } = useTranslation('studies');
  const { number, share } = useNumbers();
  const [first] = over;
  const unit = t(`units.${units}`);
  const isLimited = first !== undefined && first.share !== null;
  const beyond = over.slice(1).flatMap(({ by, share: part }) => (part === null ? [] : [{ by, part }]));
  return {
    kind: 'overLimit',
    label: t('speed.over'),
    value: isLimited ? share(first.share) : null,
    n: t('nSpeeds', { count: n }),
    status: isLimited ? status : 'INSUFFICIENT',
    method: t('methods.over'),
    lines: [
      limit === null
        ? t(isLimited ? 'speed.limitChanged' : 'speed.noLimit')
        : t('speed.limitIs', { limit: `${number(limit, limitDigits(limit))} ${unit}` }),
      beyond.map(({ by, part }) => `\u2066+${by}: ${share(part)}\u2069`).join(' · '),
    ],
    more: beyond.map(({ by, part }) => [t('speed.overBy', { by: `${by} ${unit}` }), share(part)] as const),
  } as const;
}

/** Whether the sample is large enough, in words. */
function useSampleTile(study: SpeedStudyOfPlace) {
  const { t } = useTranslation('studies');
  const { number } = useNumbers();
  const { n, status, reason, units, basis, sampleSize } = study;
  const margin = `±${number(sampleSize?.margin ?? 0)} ${t(`units.${units}`)}`;
  const needed = number(sampleSize?.needed ?? 0);
  return {
    kind: 'sampleSize',
    label: t('speed.sample'),
    value: number(n),
    unit: t('units.speeds'),
    n: t('nSpeeds', { count: n }),
    status,
    reason,
    method: t('methods.sampleSize'),
    lines: [t(`speed.verdict.${verdictOf(study)}`, { margin, needed }), t(`speed.basis.${basis}`)],
    more: sampleSize ? [[t('speed.needed', { margin }), needed] as const] : [],
  } as const;
}
