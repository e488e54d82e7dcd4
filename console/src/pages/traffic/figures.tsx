import { HOUR_MS } from '@gantry/contract/durations';
import type { Flow } from '@gantry/contract/traffic';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { GAP, useCellText } from '../../shared/chart/use-cell-text.ts';
import { UnbrokenDays } from '../../shared/time/moment.tsx';
import { useServiceTime } from '../../shared/time/use-time.ts';
import { classes } from '../../ui/classes.ts';

interface FiguresProps {
  readonly first: Flow;
  readonly second: Flow;
  readonly firstName: string;
  readonly secondName: string;
}

function PeakTime({ flow: { peakHour } }: { readonly flow: Flow }) {
  const time = useServiceTime();
  if (!peakHour) return null;
  return (
    <bdi dir="ltr" className="text-sm text-muted">
      {time.date(peakHour.start)} {time.minute(peakHour.start)}–
      {time.minute(new Date(peakHour.start.getTime() + HOUR_MS))}
    </bdi>
  );
}

/** The figures of the whole range and of what it is compared with, as a table with their differences. */
export function Differences({ first, second, firstName, secondName }: FiguresProps) {
  const figures = useFigures(first.units);
  const { t, i18n } = useTranslation('traffic');
  const textOf = useCellText();
  const cell = 'figures border-b px-2 py-1.5 text-end whitespace-nowrap';
  const differenceOf = ({ of, kind, digits = 0, unit }: Figure): string => {
    const [before, now] = [of(second), of(first)];
    if (before === null || now === null) return GAP;
    const isShare = kind === 'share';
    const difference = (isShare ? 100 : 1) * (now - before);
    const text = new Intl.NumberFormat(i18n.language, {
      signDisplay: 'exceptZero',
      maximumFractionDigits: isShare ? 1 : digits,
    }).format(difference);
    return `${text} ${isShare ? t('points') : (unit ?? '')}`.trim();
  };
  const changeOf = ({ of, kind }: Figure): string => {
    const [before, now] = [of(second), of(first)];
    if (kind === 'share' || before === null || now === null || before === 0) return '';
    const format = { style: 'percent', signDisplay: 'exceptZero', maximumFractionDigits: 1 } as const;
    return new Intl.NumberFormat(i18n.language, format).format((now - before) / before);
  };
  return (
    <section
      aria-label={t('comparison.title')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
      tabIndex={0}
      className="overflow-x-auto rounded-md border bg-surface p-3"
    >
      <h2 className="mb-1 text-lg font-semibold">{t('comparison.title')}</h2>
      <table className="w-full border-separate border-spacing-0">
        <thead>
          <tr className="text-sm text-muted">
            <th scope="col" className="border-b px-2 text-start font-medium">
              {t('comparison.figure')}
            </th>
            {[firstName, secondName, t('comparison.difference'), '%'].map((name) => (
              <th key={name} scope="col" className="border-b px-2 text-end font-medium">
                <bdi>
                  <UnbrokenDays text={name} />
                </bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {figures.map((figure) => (
            <tr key={figure.id}>
              <th scope="row" className="border-b px-2 py-1.5 text-start font-normal">
                {figure.label}
                {figure.unit && <span className="text-muted"> ({figure.unit})</span>}
              </th>
              {[first, second].map((flow, at) => (
                <td key={at === 0 ? 'first' : 'second'} className={classes(cell, at === 0 && 'font-medium')}>
                  {textOf(figure.of(flow), { header: '', ...figure })}
                  {figure.id === 'peakHour' && (
                    <div className="font-normal">
                      <PeakTime flow={flow} />
                    </div>
                  )}
                </td>
              ))}
              <td className={cell}>
                <bdi dir="ltr">{differenceOf(figure)}</bdi>
              </td>
              <td className={cell}>
                <bdi dir="ltr">{changeOf(figure)}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A figure that summarizes a whole range. */
interface Figure {
  readonly id: string;
  readonly label: string;
  readonly of: (flow: Flow) => number | null;
  readonly kind: 'number' | 'share';
  readonly digits?: number;
  readonly unit?: string;
}

/** The figures of a range, the most important first. */
function useFigures(units: Flow['units']): readonly Figure[] {
  const { t } = useTranslation('traffic');
  return useMemo(() => {
    const speed = (id: string, label: string, of: Figure['of']): Figure => ({
      id,
      label,
      of,
      kind: 'number',
      digits: 1,
      unit: t(`units.${units}`),
    });
    return [
      speed('v85', 'V85', ({ v85 }) => v85),
      speed('v50', 'V50', ({ v50 }) => v50),
      speed('v15', 'V15', ({ v15 }) => v15),
      speed('v95', 'V95', ({ v95 }) => v95),
      speed('meanSpeed', t('figures.meanSpeed'), ({ meanSpeed }) => meanSpeed),
      speed('limit', t('figures.limit'), ({ speedLimit }) => speedLimit),
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
  }, [t, units]);
}
