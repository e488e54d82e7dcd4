import type { TooltipComponentOption } from 'echarts/components';
import type { Look } from './look.ts';

export interface TooltipRow {
  readonly name: string;
  readonly value: string;
  /** Colour of the line or bar, if there is one. */
  readonly color?: string | undefined;
}

/** The content of a tooltip. It is built from elements, not from HTML, because it contains texts from devices. */
function contentOf(title: readonly string[], rows: readonly TooltipRow[]): HTMLElement {
  const content = element('div', 'grid gap-1 text-sm text-text');
  content.dir = document.documentElement.dir;
  for (const [at, line] of title.entries())
    content.append(element('div', at === 0 ? 'font-medium' : 'text-muted', line));
  const list = element('div', 'grid grid-cols-[auto_1fr_auto] items-center gap-x-2');
  for (const { name, value, color } of rows) {
    const mark = element('span', 'size-2.5 rounded-sm');
    if (color) mark.style.backgroundColor = color;
    list.append(
      mark,
      element('bdi', 'one-line max-w-56 text-muted', name),
      element('bdi', 'figures text-end', value),
    );
  }
  content.append(list);
  return content;
}

function element(tag: string, className: string, text?: string): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Class of the tooltip element. */
export const TIP_CLASS = 'chart-tip';

interface Pointed {
  readonly dataIndex: number;
  readonly seriesName?: string;
  readonly color?: unknown;
}

/**
 * The tooltip of a chart.
 * @param describe returns the content for the category at a position; `colorOf` returns the colour of a named series
 */
export function tooltipOf(
  look: Look,
  trigger: 'axis' | 'item',
  describe: (
    at: number,
    colorOf: (name: string) => string | undefined,
  ) => { title: readonly string[]; rows: readonly TooltipRow[] },
): TooltipComponentOption {
  return {
    trigger,
    confine: true,
    className: TIP_CLASS,
    transitionDuration: 0,
    backgroundColor: look.raised,
    borderColor: look['line-strong'],
    borderWidth: 1,
    padding: 8,
    axisPointer: { type: 'shadow', shadowStyle: { color: look.line, opacity: 0.4 } },
    formatter: (pointed) => {
      const all = (Array.isArray(pointed) ? pointed : [pointed]) as readonly Pointed[];
      const colors = new Map(
        all.map(({ seriesName, color }) => [seriesName, typeof color === 'string' ? color : undefined]),
      );
      const { title, rows } = describe(all[0]?.dataIndex ?? 0, (name) => colors.get(name));
      return contentOf(title, rows);
    },
  };
}
