interface SparklineProps {
  /** Describes the line for screen readers. */
  readonly label: string;
  /** Oldest first; null leaves a gap. */
  readonly values: readonly (number | null)[];
}

const WIDTH = 100;
const HEIGHT = 24;

/** A small line chart without axes. It runs from left to right in every language. */
export function Sparkline({ label, values }: SparklineProps) {
  const most = Math.max(1, ...values.map((value) => value ?? 0));
  const step = WIDTH / Math.max(1, values.length - 1);
  let pen = 'M';
  // `h0.01` draws a value between two gaps as a dot.
  const path = values.map((value, at) => {
    const point =
      value === null ? '' : `${pen}${at * step},${HEIGHT - 1 - (value / most) * (HEIGHT - 2)}h0.01`;
    pen = value === null ? 'M' : 'L';
    return point;
  });
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="h-6 w-full"
    >
      <path
        d={path.join('')}
        fill="none"
        className="stroke-muted"
        strokeWidth={1.5}
        strokeLinecap="round"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
