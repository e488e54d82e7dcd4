import type { TurningMovementsOfPlace } from '@gantry/contract/turning-movements';
import { useTranslation } from 'react-i18next';
import { useCellText } from '../../../../shared/chart/use-cell-text.ts';
import { useServiceTime } from '../../../../shared/time/use-time.ts';
import { knownOf } from '../count-table.ts';
import { FigureTile, Tiles } from '../tile.tsx';
import {
  type CountPartName,
  countBins,
  heavyShare,
  type NamedChoice,
  type TurningPeak,
  type TurningTotals,
} from './figures.ts';

interface IntersectionTilesProps {
  readonly choice: NamedChoice;
  readonly part: CountPartName;
  /** The peak hour that is shown; null for a total. */
  readonly peak: TurningPeak | null;
  readonly figures: TurningTotals;
  /** Those of the total. */
  readonly bins: TurningMovementsOfPlace['bins'];
}

/** The volume of the intersection, its peak hour factor, its heavy vehicles, and who crossed on foot and by bicycle. */
export function IntersectionTiles({ choice, part, peak, figures, bins }: IntersectionTilesProps) {
  const { t } = useTranslation('studies');
  const { t: traffic } = useTranslation('traffic');
  const time = useServiceTime();
  const textOf = useCellText();
  const { name } = choice;
  const number = (value: number | null, digits = 0) =>
    value === null ? null : textOf(value, { header: '', kind: 'number', digits });
  const share = (value: number | null) => value !== null && textOf(value, { header: '', kind: 'share' });
  const { valid, coverage } = knownOf(countBins(bins));
  const { days, day } = choice;
  const subject = [
    [t('place'), <bdi key="place">{name}</bdi>],
    [
      t('period'),
      <bdi key="days" dir="ltr">
        {part === 'period' ? time.days(days) : time.day(day)}
      </bdi>,
    ],
    [t('zone'), time.zone],
  ] as const;
  const status = peak?.status ?? (coverage >= WHOLE ? 'VALID' : 'PARTIAL');
  const heavy = peak ? peak.t : heavyShare(figures.movements);
  const sample = peak
    ? t('nQuarters', { count: peak.validBins })
    : t(part === 'period' ? 'intersection.nDays' : 'nIntervals', {
        n: number(valid),
        of: number(bins.length),
      });
  const common = { n: sample, status, ...(peak ? { reason: peak.reason } : { coverage }) };
  const more = [
    [t('peak.phfLong'), number(peak?.peakHourFactor ?? null, 4)],
    [t('peak.tLong'), share(heavy) || t('peak.noT')],
  ] as const;
  return (
    <Tiles>
      <FigureTile
        figure={{
          kind: peak ? 'peakHour' : 'movementVolume',
          label: t(peak ? 'intersection.hourVolume' : 'intersection.volume'),
          value: number(figures.volume),
          unit: peak ? traffic('perHour') : t('units.vehicles'),
          method: t(peak ? 'methods.rolling' : 'methods.sum'),
          ...common,
          more,
        }}
        subject={subject}
      >
        <p className="figures flex flex-wrap gap-x-3 text-sm">
          {peak && (
            <bdi dir="ltr">
              {t('peak.phf')} {number(peak.peakHourFactor, 2) ?? '–'}
            </bdi>
          )}
          <bdi dir="ltr">
            {t('peak.t')} {share(heavy) || '–'}
          </bdi>
        </p>
        {peak?.status === 'PARTIAL' && <p className="text-sm">{t('peak.partial')}</p>}
      </FigureTile>
      {(['pedestrians', 'bicycles'] as const).map((kind) => (
        <FigureTile
          key={kind}
          figure={{
            kind: 'crossing',
            label: t(`intersection.${kind}`),
            value: number(figures[kind]),
            method: t('methods.sum'),
            ...common,
            // The hour itself is whole, whatever is known of the rest of its window.
            ...(peak && { status: 'VALID', reason: null }),
          }}
          subject={subject}
        />
      ))}
    </Tiles>
  );
}

/** The share of the time from which a count is valid. */
const WHOLE = 0.95;
