import { figure, formatTable } from '../table.ts';
import type { Sample } from './sample.ts';
import type { Second } from './second.ts';
import type { Soaked } from './soak.ts';
import type { Judgement } from './verdict.ts';

const COLUMNS = [
  'minute',
  'events/s',
  'p50 ms',
  'p99 ms',
  'disk p99 ms',
  'sent late ms',
  'generator µs',
  'memory MB',
  'queued',
  'idle in transaction',
] as const;

/** A progress line about a sample. */
export function lineOf(sample: Sample): string {
  return cellsOf(sample)
    .map((cell, at) => `${COLUMNS[at]} ${cell}`)
    .join('  ');
}

/** Maximum number of rows in the table. If there are more samples, only every nth is shown. */
const MAX_ROWS = 60;

/** The tables of a run. */
export function reportOf(
  { rate, stored, samples, seconds }: Soaked,
  judgements: readonly Judgement[],
): string {
  const step = Math.ceil(samples.length / MAX_ROWS);
  const shown = samples.filter((_, at) => (samples.length - 1 - at) % step === 0);
  return [
    `${figure(rate)} events/s were due; all ${figure(stored)} that were acknowledged are in the table, the totals and the statistics.`,
    '',
    formatTable(
      COLUMNS.map((title) => ({ title, figures: true })),
      shown.map(cellsOf),
    ),
    '',
    `The load generator, which does the same in every minute, took ${speedOf(samples)} of processor time per request.`,
    '',
    formatTable(
      [{ title: 'is it so?' }, { title: 'found' }, { title: '' }],
      judgements.map(({ question, found, good }) => [question, found, good ? 'yes' : 'NO']),
    ),
    '',
    ...slowSeconds(seconds),
  ].join('\n');
}

/** The range of the generator's processor time, which shows how steady the machine itself was. */
function speedOf(samples: readonly Sample[]): string {
  const times = samples.map(({ generator }) => generator);
  return `${figure(Math.min(...times))} to ${figure(Math.max(...times))} µs`;
}

function cellsOf(sample: Sample): string[] {
  return [
    sample.minute.toFixed(1),
    ...[sample.eventsPerSecond, sample.p50, sample.p99, sample.disk].map(figure),
    ...[sample.lateness, sample.generator, sample.memory].map(figure),
    String(sample.queued),
    String(sample.idleInTransaction),
  ];
}

/** How many of the seconds with the highest p99 are shown, and how many activities of PostgreSQL for each. */
const SLOWEST = 20;
const SHOWN_WAITS = 3;

/** A table of the seconds with the slowest answers, and of what happened in them. */
export function slowSeconds(seconds: readonly Second[]): string[] {
  const slowest = [...seconds].sort((a, b) => b.p99 - a.p99).slice(0, SLOWEST);
  const columns = [
    ...['second', 'p50 ms', 'p99 ms', 'sent late ms', 'busy %', 'stolen %'],
    ...['disk ms', 'loop ms', 'collector ms', 'WAL MB'],
  ];
  return [
    `The ${slowest.length} slowest seconds, and what happened in them:`,
    '',
    formatTable(
      [
        ...columns.map((title) => ({ title, figures: true })),
        { title: 'checkpoint' },
        { title: 'vacuum, analyse' },
        { title: 'PostgreSQL' },
      ],
      slowest
        .sort((a, b) => a.second - b.second)
        .map((at) => [
          at.second,
          ...[at.p50, at.p99, at.lateness, at.busy * 100, at.stolen * 100].map(figure),
          ...[at.disk, at.loop, at.collector, at.wal].map(figure),
          at.checkpoint ? 'yes' : '',
          at.upkeep.join(', '),
          Object.entries(at.waits)
            .sort(([, a], [, b]) => b - a)
            .slice(0, SHOWN_WAITS)
            .map(([name, share]) => `${name} ${share.toFixed(1)}`)
            .join(', '),
        ]),
    ),
  ];
}
