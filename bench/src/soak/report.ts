import { figure, formatTable } from '../table.ts';
import type { Sample } from './sample.ts';
import type { Judgement } from './verdict.ts';

const COLUMNS = [
  'minute',
  'events/s',
  'p50 ms',
  'p99 ms',
  'sent late ms',
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

/** Maximum number of rows in the table; of longer runs it contains every nth sample. */
const MAX_ROWS = 60;

/** The tables of a run. */
export function reportOf(
  rate: number,
  stored: number,
  samples: readonly Sample[],
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
    formatTable(
      [{ title: 'is it so?' }, { title: 'found' }, { title: '' }],
      judgements.map(({ question, found, good }) => [question, found, good ? 'yes' : 'NO']),
    ),
  ].join('\n');
}

function cellsOf(sample: Sample): string[] {
  return [
    sample.minute.toFixed(1),
    ...[sample.eventsPerSecond, sample.p50, sample.p99, sample.lateness, sample.memory].map(figure),
    String(sample.queued),
    String(sample.idleInTransaction),
  ];
}
