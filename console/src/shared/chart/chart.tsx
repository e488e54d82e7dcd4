import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { classes } from '../../ui/classes.ts';
import { copyForPrint } from '../../ui/print-copy.ts';
import { useLasting } from '../../ui/skeleton.tsx';
import { useIsDark } from '../../ui/token-color.ts';
import { Failure } from '../service/failure.tsx';
import type { ChartOption, ECharts } from './echarts.ts';
import { type Look, readLook } from './look.ts';
import { TIP_CLASS } from './tooltip.ts';

/** The size of a printed chart in CSS pixels, about as wide as the paper, and the device pixels of each of them. */
const PRINT = { width: 680, height: 280, pixelRatio: 2 };

interface ChartProps {
  /** What the chart shows, for screen readers. The figures are in the table of the card. */
  readonly label: string;
  /** Returns the options in the given colours. Called again when it or the colour scheme changes, and for printing. */
  readonly draw: (look: Look) => ChartOption;
  /** Receives the chart instance. */
  readonly handle?: RefObject<ECharts | null>;
  readonly className?: string;
}

/** A chart on a canvas. The library is loaded with the first chart. Axes run from left to right in every language. */
export function Chart({ label, draw, handle, className = 'h-72' }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const [chart, setChart] = useState<ECharts | null>(null);
  const [error, setError] = useState<unknown>(null);
  const isDark = useIsDark();
  const isWaiting = useLasting(chart === null);
  const tips = useKeyboardTips(chart, box);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let made: ECharts | null = null;
    let isGone = false;
    const observer = new ResizeObserver(() => made?.resize());
    import('./echarts.ts')
      .then(({ createChart }) => {
        if (isGone) return;
        made = createChart(element);
        observer.observe(element);
        setChart(made);
      })
      .catch(setError);
    return () => {
      isGone = true;
      observer.disconnect();
      made?.dispose();
      setChart(null);
    };
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours change with the scheme (`isDark`)
  useEffect(() => {
    if (!chart) return;
    const paint = (look: Look) =>
      chart.setOption(
        {
          animation: false,
          textStyle: { fontFamily: look.font, color: look.text },
          ...draw(look),
        },
        { notMerge: true },
      );
    paint(readLook());
    return copyForPrint({
      drawing: chart.getZr().painter.getViewportRoot(),
      container: chart.getDom(),
      look: 'block h-auto w-full',
      draw() {
        chart.resize(PRINT);
        paint(readLook('light'));
        const copy = chart.renderToCanvas({ pixelRatio: PRINT.pixelRatio });
        // The library sets a size in pixels.
        copy.removeAttribute('style');
        chart.resize({ width: 'auto', height: 'auto' });
        paint(readLook());
        return copy;
      },
    });
  }, [chart, draw, isDark]);

  useEffect(() => {
    if (!chart || !handle) return;
    handle.current = chart;
    return () => {
      handle.current = null;
    };
  }, [chart, handle]);

  if (error) return <Failure error={error} />;
  return (
    <>
      <div
        ref={box}
        role="img"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move through the figures
        tabIndex={0}
        onKeyDown={tips.onKeyDown}
        onBlur={tips.hide}
        dir="ltr"
        className={classes(
          'relative w-full min-w-0 print:h-auto',
          className,
          isWaiting && 'animate-pulse rounded bg-hover',
        )}
      />
      <p role="status" className="sr-only">
        {tips.said}
      </p>
    </>
  );
}

/** The figure that each key moves to. */
const steps: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowRight: (at) => at + 1,
  ArrowLeft: (at) => at - 1,
  Home: () => 0,
  End: (_at, last) => last,
};

interface Drawn {
  readonly silent?: boolean;
  readonly data?: readonly unknown[];
}

interface Shown {
  readonly series?: readonly Drawn[];
  readonly tooltip?: readonly { readonly trigger?: string }[];
}

/** Moves the tooltip of a chart with the arrow keys, Home and End, and returns its text for screen readers. */
function useKeyboardTips(chart: ECharts | null, box: RefObject<HTMLElement | null>) {
  const at = useRef(-1);
  const [said, setSaid] = useState('');
  const hide = () => {
    at.current = -1;
    setSaid('');
    chart?.dispatchAction({ type: 'hideTip' });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && at.current >= 0) {
      event.stopPropagation();
      return hide();
    }
    const step = steps[event.key];
    if (!step || !chart || event.ctrlKey || event.metaKey || event.altKey) return;
    const { series = [], tooltip: [tooltip] = [] } = chart.getOption() as Shown;
    const seriesIndex = series.findIndex(({ silent, data = [] }) => !silent && data.length > 0);
    const last = (series[seriesIndex]?.data?.length ?? 0) - 1;
    if (last < 0) return;
    event.preventDefault();
    at.current = Math.max(0, Math.min(step(at.current, last), last));
    const place =
      tooltip?.trigger === 'axis'
        ? // A gap has no point, but its position on the axis has a tooltip.
          { x: chart.convertToPixel({ xAxisIndex: 0 }, at.current), y: chart.getHeight() / 2 }
        : { seriesIndex, dataIndex: at.current };
    chart.dispatchAction({ type: 'showTip', ...place });
    setSaid(box.current?.querySelector<HTMLElement>(`.${TIP_CLASS}`)?.innerText.replaceAll('\n', ' ') ?? '');
  };
  return { said, onKeyDown, hide };
}
