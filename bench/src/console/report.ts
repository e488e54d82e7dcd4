import { median } from '../percentile.ts';
import { figure, formatTable } from '../table.ts';
import { type Measured, p95 } from './measure.ts';

/** What the console is to keep. Times in milliseconds, script in kB (of 1,000 bytes), memory in MB. */
export const GOALS = { cold: 1_500, warm: 700, script: 250, interaction: 100, heapGrowth: 5 } as const;

/** What is not as it should be, in sentences; empty when everything is. */
export function shortfallsOf({ loaded, interactions, scrolled, heap }: Measured): string[] {
  const [first = 0] = heap.slice(1);
  const growth = (heap.at(-1) ?? 0) - first;
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
    'From the navigation to the first useful content (median), and the compressed script of the first load:',
    '',
    loads,
    '',
    `- Interaction to next paint: ${interactions.length} interactions of 16 ms or more, p50 ${figure(median([...interactions]))} ms, p95 ${figure(p95(interactions))} ms`,
    `- Scrolling: ${scrolled.rows} rows, ${scrolled.blank} of ${scrolled.frames} frames with a blank place`,
    `- Memory of the live list: ${heap.map((value) => value.toFixed(1)).join(' ')} MB`,
    '',
    shortfalls.length === 0 ? 'All goals are met.' : `Missed: ${shortfalls.join('; ')}.`,
  ].join('\n');
}
