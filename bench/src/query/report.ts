import { figure, formatTable } from '../table.ts';
import type { Measurement } from './measure.ts';

/** The result of a query, compared with its limits. */
export interface Verdict {
  readonly ratio: number;
  readonly goal: string;
  /** Whether the limits were met; null if there are none. */
  readonly met: boolean | null;
}

/** Evaluates a measurement: the ratio is that of the medians at the largest and the smallest size. */
export function judge({ question, timings }: Measurement): Verdict {
  const [smallest, largest] = [timings.at(0), timings.at(-1)];
  const ratio =
    timings.length > 1 ? (largest?.p50 ?? Number.NaN) / (smallest?.p50 ?? Number.NaN) : Number.NaN;
  const { p99, ratio: most } = question.goals;
  const held = [
    ...(p99 === undefined ? [] : [{ goal: `p99 < ${p99} ms`, met: (largest?.p99 ?? Number.NaN) < p99 }]),
    ...(most === undefined || timings.length < 2 ? [] : [{ goal: `ratio < ${most}`, met: ratio < most }]),
  ];
  return {
    ratio,
    goal: held.map(({ goal }) => goal).join(', '),
    met: held.length === 0 ? null : held.every(({ met }) => met),
  };
}

/** One progress line about a query. */
export function lineOf(measurement: Measurement): string {
  const times = measurement.timings.map(
    ({ p50, p99 }) => `${figure(p50).padStart(6)} ${figure(p99).padStart(6)}`,
  );
  const { ratio, met } = judge(measurement);
  return `${titleOf(measurement).padEnd(42)} ${times.join('  |  ')}  × ${figure(ratio)}${met === false ? '  MISSED' : ''}`;
}

/** The table of all queries, with the sizes side by side. */
export function reportOf(measurements: readonly Measurement[]): string {
  const sizes = measurements[0]?.timings.map(({ events }) => sizeName(events)) ?? [];
  const columns = [
    { title: 'question' },
    ...sizes.flatMap((size) => [`${size}: p50`, 'p99']).map((title) => ({ title, figures: true })),
    { title: 'ratio', figures: true },
    { title: 'goal' },
    { title: '' },
  ];
  const rows = measurements.map((measurement) => {
    const { ratio, goal, met } = judge(measurement);
    const times = measurement.timings.flatMap(({ p50, p99 }) => [figure(p50), figure(p99)]);
    return [titleOf(measurement), ...times, figure(ratio), goal, met === null ? '' : met ? 'met' : 'MISSED'];
  });
  return formatTable(columns, rows);
}

function sizeName(events: number): string {
  return events >= 1e6
    ? `${figure(events / 1e6)} M`.replace('.00', '').replace('.0', '')
    : `${Math.round(events / 1000)} k`;
}

function titleOf({ question: { group, name } }: Measurement): string {
  return name === '' ? group : `${group}: ${name}`;
}
