import { useTranslation } from 'react-i18next';
import { statusLooks } from '../../shared/status/sensor-status.tsx';
import { useTime } from '../../shared/time/use-time.ts';
import { type StatusSpan, within } from './availability.ts';

interface StatusStripProps {
  readonly label: string;
  readonly spans: readonly StatusSpan[];
  /** In milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

/** The height of each status, in units of the view box. ONLINE is low and grey; the others stand out by height, too. */
const heights = { ONLINE: 6, MAINTENANCE: 12, OFFLINE: 18, ERROR: 24 } as const;
const HEIGHT = 24;
const WIDTH = 1000;
/** The minimum width of a span, so that short ones remain visible. */
const LEAST_WIDTH = 3;

/** A timeline of the status of a sensor. The table of changes has the same data as text. */
export function StatusStrip({ label, spans, from, to }: StatusStripProps) {
  const { t } = useTranslation('common');
  const time = useTime();
  const x = (at: number) => ((at - from) / (to - from)) * WIDTH;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="h-6 w-full bg-bg"
    >
      {within(spans, from, to).map((span) => (
        <rect
          key={span.from}
          x={Math.min(x(span.from), WIDTH - LEAST_WIDTH)}
          y={HEIGHT - heights[span.status]}
          width={Math.max(LEAST_WIDTH, x(span.to) - x(span.from))}
          height={heights[span.status]}
          fill={`var(--${statusLooks[span.status].color})`}
        >
          <title>
            {`${t(`sensorStatus.${span.status}`)} · ${time.dateTime(new Date(span.from))} – ${time.dateTime(new Date(span.to))}`}
          </title>
        </rect>
      ))}
    </svg>
  );
}
