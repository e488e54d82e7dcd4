import type { DailyVolumesOfPlace } from '@gantry/contract/figures';
import { useTranslation } from 'react-i18next';
import { useCellText } from '../../../shared/chart/use-cell-text.ts';
import { useServiceTime } from '../../../shared/time/use-time.ts';
import type { Place } from '../comparison.ts';
import { usePlaceName } from '../place.tsx';
import { type CountBin, knownOf, type PeakOfDay } from './count-table.ts';
import { FigureTile, type TileProps, Tiles } from './tile.tsx';

interface CountTilesProps {
  readonly place: Place;
  readonly day: string;
  readonly bins: readonly CountBin[];
  readonly peaks: readonly PeakOfDay[];
  readonly total: DailyVolumesOfPlace['days'][number];
}

/** The volume of a day and its peak hours. */
export function CountTiles({ place, day, bins, peaks, total }: CountTilesProps) {
  const { t } = useTranslation('studies');
  const { t: traffic } = useTranslation('traffic');
  const time = useServiceTime();
  const textOf = useCellText();
  const name = usePlaceName(place);
  const { valid, coverage } = knownOf(bins);
  const number = (value: number | null, digits = 0) =>
    value === null ? null : textOf(value, { header: '', kind: 'number', digits });
  const subject = [
    [t('place'), <bdi key="place">{name}</bdi>],
    [t('period'), <bdi key="day">{day}</bdi>],
    [t('zone'), time.zone],
  ] as const;
  return (
    <Tiles>
      <FigureTile
        figure={{
          kind: 'dayVolume',
          label: t('tiles.dayVolume'),
          value: number(total.volume),
          unit: t('units.vehicles'),
          n: t('nIntervals', { n: number(valid), of: number(bins.length) }),
          coverage,
          method: t('methods.sum'),
          status: total.status,
          reason: total.reason,
        }}
        subject={subject}
      />
      {peaks
        .filter(({ window }) => window !== 'DAY')
        .map((peak) => (
          <PeakTile key={peak.window} {...{ peak, subject, number }} perHour={traffic('perHour')} />
        ))}
    </Tiles>
  );
}

interface PeakTileProps {
  readonly peak: PeakOfDay;
  readonly subject: TileProps['subject'];
  readonly number: (value: number | null, digits?: number) => string | null;
  readonly perHour: string;
}

/** The peak hour of a window, with the shares that a design needs: PHF, K, D and T. */
function PeakTile({ peak, subject, number, perHour }: PeakTileProps) {
  const { t } = useTranslation('studies');
  const time = useServiceTime();
  const textOf = useCellText();
  const { window, start, end, volume, peakHourFactor, k, d, dDirection, t: heavy, validBins, status } = peak;
  const share = (value: number | null) => value !== null && textOf(value, { header: '', kind: 'share' });
  const direction = typeof dDirection === 'number' ? `${dDirection}°` : (dDirection ?? '');
  const shares = [
    [t('peak.phf'), number(peakHourFactor, 2)],
    [t('peak.k'), share(k)],
    [t('peak.d'), d !== null && `${share(d)} ${direction}`],
    [t('peak.t'), share(heavy)],
  ] as const;
  const hour = start && end && `${time.minute(start)}–${time.minute(end)}`;
  const more = [
    [t('peak.hour'), hour && <bdi dir="ltr">{hour}</bdi>],
    [t('peak.phfLong'), number(peakHourFactor, 4)],
    [t('peak.kLong'), share(k) || t('peak.noK')],
    [t('peak.dLong'), d === null ? t('peak.noD') : `${share(d)} ${direction}`],
    [t('peak.tLong'), share(heavy) || t('peak.noT')],
  ] as const;
  return (
    <FigureTile
      figure={{
        kind: 'peakHour',
        label: t('tiles.peak', { window: t(`windows.${window}`) }),
        value: number(volume),
        unit: perHour,
        n: t('nQuarters', { count: validBins }),
        method: t('methods.rolling'),
        status,
        reason: peak.reason,
        more: hour ? more : [],
      }}
      subject={subject}
    >
      {hour && (
        <p className="figures font-medium">
          <bdi dir="ltr">{hour}</bdi>
        </p>
      )}
      {hour && (
        <p className="figures flex flex-wrap gap-x-3 text-sm">
          {shares
            .filter(([, value]) => value)
            .map(([name, value]) => (
              <bdi key={name} dir="ltr" className="whitespace-nowrap">
                {name} {value}
              </bdi>
            ))}
        </p>
      )}
      {status === 'PARTIAL' && <p className="text-sm">{t('peak.partial')}</p>}
    </FigureTile>
  );
}
