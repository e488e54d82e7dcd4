import type { Flow } from '@gantry/contract/traffic';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';

/** A figure that summarizes a whole range. */
export interface Figure {
  readonly id: string;
  readonly label: string;
  readonly of: (flow: Flow) => number | null;
  readonly kind: 'number' | 'share';
  readonly digits?: number;
  readonly unit?: string;
}

/** The figures of a range, the most important first. */
export function useFigures(): readonly Figure[] {
  const { t } = useTranslation('traffic');
  return useMemo(() => {
    const speed = (id: string, label: string, of: Figure['of']): Figure => ({
      id,
      label,
      of,
      kind: 'number',
      digits: 1,
      unit: t('kmh'),
    });
    return [
      speed('v85', 'V85', ({ v85 }) => v85),
      speed('v50', 'V50', ({ v50 }) => v50),
      speed('v15', 'V15', ({ v15 }) => v15),
      speed('v95', 'V95', ({ v95 }) => v95),
      speed('meanSpeed', t('figures.meanSpeed'), ({ meanSpeed }) => meanSpeed),
      { ...speed('limit', t('figures.limit'), ({ speedLimit }) => speedLimit), digits: 0 },
      {
        id: 'share',
        label: t('figures.shareOverLimit'),
        of: ({ shareOverLimit }) => shareOverLimit,
        kind: 'share',
      },
      { id: 'volume', label: t('figures.volume'), of: ({ volume }) => volume, kind: 'number' },
      {
        id: 'peakHour',
        label: t('figures.peakHour'),
        of: ({ peakHour }) => peakHour?.volume ?? null,
        kind: 'number',
        unit: t('perHour'),
      },
      {
        id: 'factor',
        label: t('figures.peakHourFactor'),
        of: ({ peakHourFactor }) => peakHourFactor,
        kind: 'number',
        digits: 2,
      },
      {
        id: 'completeness',
        label: t('figures.completeness'),
        of: ({ completeness }) => completeness,
        kind: 'share',
      },
    ];
  }, [t]);
}
