import { type KeyboardEvent, type RefObject, useRef, useState } from 'react';
import type { ECharts } from './echarts.ts';
import { TIP_CLASS } from './tooltip.ts';

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
export function useKeyboardTips(chart: ECharts | null, box: RefObject<HTMLElement | null>) {
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
