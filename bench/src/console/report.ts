import { median } from '../percentile.ts';
import { figure, formatTable } from '../table.ts';
import { type HeapSample, type Measured, p95 } from './measure.ts';

/** The goals of the console: times in milliseconds, script in kB (1,000 bytes), memory in MB. */
const GOALS = { cold: 1_500, warm: 700, script: 250, interaction: 100, heapGrowth: 5 } as const;

/** Number of samples at each end whose medians are compared, because a single one may be taken while an answer is processed. */
const ENDS = 5;

/** The growth of the heap in MB, without the first sample, before which the page had not warmed up. */
function heapGrowth(heap: readonly HeapSample[]): number {
  const warm = heap.slice(1).map(({ megabytes }) => megabytes);
  return median(warm.slice(-ENDS)) - median(warm.slice(0, ENDS));
}

/** The goals that were missed, as sentences; empty if all were met. */
export function shortfallsOf({ loaded, interactions, scrolled, heap }: Measured): string[] {
  const growth = heapGrowth(heap);
  return [
    ...loaded.flatMap(({ name, cold, warm, script }) => [
      ...(median(cold) < GOALS.cold ? [] : [`${name}: cold load over ${GOALS.cold} ms`]),
      ...(median(warm) < GOALS.warm ? [] : [`${name}: warm load over ${GOALS.warm} ms`]),
      ...(script / 1000 <= GOALS.script ? [] : [`${name}: more than ${GOALS.script} kB of script`]),
    ]),
    ...(p95(interactions) < GOALS.interaction ? [] : [`interactions over ${GOALS.interaction} ms at p95`]),
    ...(scrolled.blank === 0 ? [] : [`${scrolled.blank} of ${scrolled.frames} frames with blank rows`]),
    ...(growth <= GOALS.heapGrowth ? [] : [`memory grew by ${figure(growth)} MB`]),
  ];
}

/** The tables, as Markdown. */
export function reportOf(measured: Measured): string {
  const { loaded, interactions, scrolled, heap } = measured;
  const loads = formatTable(
    [
      { title: 'page' },
      { title: 'cold ms', figures: true },
      { title: 'warm ms', figures: true },
      { title: 'script kB', figures: true },
    ],
    loaded.map(({ name, cold, warm, script }) => [
      name,
      figure(median(cold)),
      figure(median(warm)),
      figure(script / 1000),
    ]),
  );
  const shortfalls = shortfallsOf(measured);
  return [
    'From the navigation to the first useful content (median), and the compressed script of the first load without map and charts:',
    '',
    loads,
    '',
    `- Interaction to next paint: ${interactions.length} interactions of 16 ms or more, p50 ${figure(median([...interactions]))} ms, p95 ${figure(p95(interactions))} ms`,
    `- Scrolling: ${scrolled.rows} rows, ${scrolled.blank} of ${scrolled.frames} frames with a blank place`,
    `- Memory of the live list: ${heapGrowth(heap) < 0 ? '' : '+'}${heapGrowth(heap).toFixed(1)} MB from the first ${ENDS} samples to the last ${ENDS} (medians)`,
    '',
    formatTable(
      [
        { title: 'minute', figures: true },
        { title: 'memory MB', figures: true },
      ],
      heap.map(({ minute, megabytes }) => [minute.toFixed(1), megabytes.toFixed(1)]),
    ),
    '',
    shortfalls.length === 0 ? 'All goals are met.' : `Missed: ${shortfalls.join('; ')}.`,
  ].join('\n');
}
