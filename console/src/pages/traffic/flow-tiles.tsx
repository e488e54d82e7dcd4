import { HOUR_MS } from '@gantry/contract/durations';
import type { Flow } from '@gantry/contract/traffic';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useServiceTime } from '../../shared/time/use-time.ts';
import { Badge } from '../../ui/badge.tsx';
import type { Subject } from './comparison.ts';
import { usePlaceName } from './place.tsx';
import { type FigureFacts, FigureTile, Tiles } from './studies/tile.tsx';
import { useNumbers } from './studies/use-numbers.ts';

/** From this number of measured vehicles on, the service gives percentiles. */
const MIN_MEASURED = 30;

/** The figures of a place over the whole range, as tiles that say how they were computed. */
export function FlowTiles({ flow, subject }: { readonly flow: Flow; readonly subject: Subject }) {
  const { t } = useTranslation('traffic');
  const { t: studies } = useTranslation('studies');
  const time = useServiceTime();
  const name = usePlaceName(subject.place);
  const about = [
    [studies('place'), name],
    [studies('period'), time.days(subject.days)],
    [studies('zone'), time.zone],
  ] as const;
  const tiles = [...useSpeedTiles(flow), ...useVolumeTiles(flow)];
  return (
    <Tiles>
      {tiles.map(({ below, ...figure }) => (
        <FigureTile key={figure.label} figure={figure} subject={about}>
          {below}
          {figure.label === 'V85' && <OverLimit flow={flow} label={t('overLimit')} />}
        </FigureTile>
      ))}
    </Tiles>
  );
}

type Tile = FigureFacts & { readonly below?: ReactNode };

/** A badge that is shown if V85 exceeds the limit, that is, if more than 15 % of the vehicles were over it. */
function OverLimit({ flow: { v85, speedLimit }, label }: { readonly flow: Flow; readonly label: string }) {
  if (v85 === null || speedLimit === null || v85 <= speedLimit) return null;
  return (
    <Badge tone="high" icon="high">
      {label}
    </Badge>
  );
}

function useSpeedTiles(flow: Flow): Tile[] {
  const { t } = useTranslation('traffic');
  const { t: studies } = useTranslation('studies');
  const { number, share } = useNumbers();
  const { measured, coverage, percentileStatus, status, speedLimit, shareOverLimit, units } = flow;
  const unit = t(`units.${units}`);
  const common = { n: studies('nSpeeds', { count: measured }), coverage, unit };
  const tooFew = `Percentiles need at least ${MIN_MEASURED} speeds, and there are ${measured}`;
  const percentile = (label: string, value: number | null): Tile => ({
    ...common,
    kind: label === 'V85' ? 'v85' : 'v50',
    label,
    value: number(value, 1),
    method: studies('methods.LINEAR'),
    status: percentileStatus,
    reason: value === null && measured < MIN_MEASURED ? tooFew : null,
  });
  const limit =
    speedLimit === null
      ? studies('speed.noLimit')
      : studies('speed.limitIs', {
          limit: `${number(speedLimit, Number.isInteger(speedLimit) ? 0 : 1)} ${unit}`,
        });
  return [
    percentile('V85', flow.v85),
    percentile('V50', flow.v50),
    percentile('V15', flow.v15),
    percentile('V95', flow.v95),
    {
      ...common,
      kind: 'meanSpeed',
      label: t('figures.meanSpeed'),
      value: number(flow.meanSpeed, 1),
      method: studies('methods.mean'),
      status: measured > 0 ? status : 'INSUFFICIENT',
    },
    {
      ...{ n: common.n, coverage },
      kind: 'overLimit',
      label: t('figures.shareOverLimit'),
      value: share(shareOverLimit),
      method: studies('methods.over'),
      status: shareOverLimit === null ? 'INSUFFICIENT' : status,
      below: <p className="figures text-sm">{limit}</p>,
    },
  ];
}

function useVolumeTiles({ points, volume, coverage, status, peakHour, peakHourFactor }: Flow): Tile[] {
  const { t } = useTranslation('traffic');
  const { t: studies } = useTranslation('studies');
  const { number } = useNumbers();
  const time = useServiceTime();
  const known = points.filter((point) => point.volume !== null).length;
  const phf = number(peakHourFactor, 2);
  const hour =
    peakHour &&
    `${time.date(peakHour.start)} ${time.minute(peakHour.start)}–${time.minute(new Date(peakHour.start.getTime() + HOUR_MS))}`;
  return [
    {
      kind: 'volume',
      label: t('figures.volume'),
      value: number(volume),
      n: studies('nIntervals', { n: number(known), of: number(points.length) }),
      coverage,
      method: studies('methods.sum'),
      status,
    },
    {
      kind: 'peakHour',
      label: t('figures.peakHour'),
      value: number(peakHour?.volume ?? null),
      unit: t('perHour'),
      n: studies('nQuarters', { count: peakHour ? 4 : 0 }),
      method: studies('methods.rolling'),
      status: peakHour ? 'VALID' : 'INSUFFICIENT',
      reason: peakHour ? null : 'No four successive quarter hours are whole and valid',
      more: [[studies('peak.phfLong'), number(peakHourFactor, 4)]],
      below: hour && (
        <p className="figures text-sm">
          <bdi dir="ltr">{hour}</bdi>
          {phf !== null && <bdi dir="ltr"> · {`${studies('peak.phf')} ${phf}`}</bdi>}
        </p>
      ),
    },
  ];
}
