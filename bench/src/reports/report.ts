import { median } from '../percentile.ts';
import { figure, formatTable } from '../table.ts';
import type { Phase } from './measure.ts';

/** The fraction of its rate that ingestion must keep while reports are generated. */
const GOAL = 0.9;

/** How much of its rate ingestion kept while reports were generated. */
export interface Kept {
  /** Events per second with reports divided by those without, the median of the rounds. */
  readonly kept: number;
  readonly met: boolean;
}

export function judge(phases: readonly Phase[]): Kept {
  const speeds = (withReports: boolean) =>
    phases.filter((each) => each.withReports === withReports).map((each) => each.eventsPerSecond);
  const without = speeds(false);
  const kept = median(speeds(true).map((speed, n) => speed / (without[n] ?? Number.NaN)));
  return { kept, met: kept >= GOAL };
}

const COLUMNS = ['round', 'reports', 'events/s', 'p50 ms', 'p99 ms', 'made', 'rows'] as const;

/** A progress line about a period. */
export function lineOf(phase: Phase): string {
  return cellsOf(phase)
    .map((cell, at) => `${COLUMNS[at]} ${cell}`)
    .join('  ');
}

/** The tables of a run. */
export function reportOf(rate: number, phases: readonly Phase[], { kept, met }: Kept): string {
  return [
    `${figure(rate)} events/s were due.`,
    '',
    formatTable(
      COLUMNS.map((title) => ({ title, figures: title !== 'reports' })),
      phases.map(cellsOf),
    ),
    '',
    `Ingestion keeps ${(kept * 100).toFixed(1)} % of its speed while reports are made (goal: ${GOAL * 100} %): ${met ? 'met' : 'MISSED'}.`,
  ].join('\n');
}

function cellsOf(phase: Phase): string[] {
  return [
    String(phase.round),
    phase.withReports ? 'with' : 'without',
    ...[phase.eventsPerSecond, phase.p50, phase.p99].map(figure),
    String(phase.reports),
    figure(phase.rows),
  ];
}
