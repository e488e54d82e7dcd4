import { median } from '../percentile.ts';
import { figure, formatTable } from '../table.ts';
import type { Verdict } from './goals.ts';
import { CONTESTANTS, type Measurement } from './measurement.ts';

const NAMES = Object.keys(CONTESTANTS);

/** The name of a server, with the number of its processes where several are compared. */
function nameOf({ contestant, workers }: Pick<Measurement, 'contestant' | 'workers'>): string {
  return CONTESTANTS[contestant] + (workers === null || workers === 1 ? '' : `, ${workers} workers`);
}

const FIGURES = [
  'requestsPerSecond',
  'eventsPerSecond',
  'p50',
  'p99',
  'p999',
  'groupSize',
  'memory',
  'nodeMicros',
  'postgresMicros',
  'generatorMicros',
  'idle',
  'generatorLoad',
] as const;

/** One progress line about a run. */
export function lineOf(measurement: Measurement): string {
  const { round, eventsPerSecond, p99, acknowledged, groupSize } = measurement;
  return (
    `round ${round}  ${nameOf(measurement).padEnd(37)} ${figure(eventsPerSecond).padStart(8)} events/s  ` +
    `p99 ${figure(p99).padStart(5)} ms  ${figure(acknowledged)} acknowledged` +
    (groupSize === null ? '' : `, in groups of ${figure(groupSize)}`)
  );
}

/** The tables of a benchmark: the medians of all rounds, and the goals. */
export function reportOf(measurements: readonly Measurement[], verdicts: readonly Verdict[]): string {
  const rounds = new Set(measurements.map(({ round }) => round)).size;
  return [
    `Medians of ${rounds} rounds; every acknowledged event was found in the table, the totals and the statistics.`,
    '',
    measurementTable(measurements),
    '',
    verdictTable(verdicts),
  ].join('\n');
}

function measurementTable(measurements: readonly Measurement[]): string {
  const titles = [
    'requests/s',
    'events/s',
    'p50 ms',
    'p99 ms',
    'p99.9 ms',
    'group',
    'memory MB',
    'node µs',
    'PostgreSQL µs',
    'generator µs',
    'idle',
    'generator',
  ];
  const columns = [{ title: 'server' }, ...titles.map((title) => ({ title, figures: true }))];
  const rows = [...new Set(measurements.map(nameOf))].map((name) => {
    const own = measurements.filter((each) => nameOf(each) === name);
    const cells = FIGURES.map((key) =>
      figure(median(own.map((measurement) => measurement[key] ?? Number.NaN))),
    );
    return [`${NAMES.indexOf(own[0]?.contestant ?? '') + 1}. ${name}`, ...cells];
  });
  return formatTable(columns, rows);
}

/** The goals and what became of them. */
export function verdictTable(verdicts: readonly Verdict[]): string {
  return formatTable(
    [
      { title: 'goal' },
      { title: 'wanted' },
      { title: 'median', figures: true },
      { title: 'range' },
      { title: '' },
    ],
    verdicts.map(({ name, goal, median: middle, lowest, highest, met }) => [
      name,
      goal,
      figure(middle),
      `${figure(lowest)} – ${figure(highest)}`,
      met ? 'met' : 'MISSED',
    ]),
  );
}
