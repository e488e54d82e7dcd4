import { setTimeout as sleep } from 'node:timers/promises';
import type { GantryClient } from '@gantry/client';
import { BenchmarkFailed } from '../failure.ts';
import { percentile } from '../percentile.ts';
import type { Pacer, Seen } from '../soak/pacer.ts';

/** The figures of a period of some seconds, with or without concurrent reports. */
export interface Phase {
  readonly round: number;
  readonly withReports: boolean;
  readonly eventsPerSecond: number;
  /** Milliseconds from the due time of a request to its answer. */
  readonly p50: number;
  readonly p99: number;
  /** Number of completed reports, and of their rows. */
  readonly reports: number;
  readonly rows: number;
}

/** The reports to generate in turn, over the whole history. */
const KINDS = [
  { kind: 'VIOLATIONS', format: 'CSV' },
  { kind: 'TRAFFIC', format: 'XLSX' },
  { kind: 'DAILY_SUMMARY', format: 'PDF' },
  { kind: 'SENSOR_HEALTH', format: 'CSV' },
] as const;

const LOOK_MS = 250;
const DEADLINE_MS = 300_000;

export interface Range {
  readonly startDate: Date;
  readonly endDate: Date;
}

export interface MeasureOptions {
  /** Minimum duration of each period, in seconds. */
  readonly seconds: number;
  readonly rounds: number;
  readonly range: Range;
  readonly signal: AbortSignal;
  readonly onPhase: (phase: Phase) => void;
}

/** Measures a constant load without reports and during reports, in turn. */
export async function measureReports(
  client: GantryClient,
  pacer: Pacer,
  { seconds, rounds, range, signal, onPhase }: MeasureOptions,
): Promise<Phase[]> {
  const phases: Phase[] = [];
  let turn = 0;
  const look = async (round: number, withReports: boolean): Promise<void> => {
    pacer.take();
    const started = performance.now();
    const elapsed = () => (performance.now() - started) / 1000;
    let [reports, rows] = [0, 0];
    while (elapsed() < seconds) {
      pacer.check();
      if (signal.aborted) throw new BenchmarkFailed('Stopped');
      if (!withReports) {
        await sleep(LOOK_MS);
        continue;
      }
      rows += await makeReport(client, KINDS[turn++ % KINDS.length] ?? KINDS[0], range);
      reports++;
    }
    const phase = { round, withReports, ...figuresOf(pacer.take(), elapsed()), reports, rows };
    onPhase(phase);
    phases.push(phase);
  };
  for (let round = 1; round <= rounds; round++) {
    await look(round, false);
    await look(round, true);
  }
  return phases;
}

/**
 * Generates one report.
 * @returns the number of its rows
 * @throws BenchmarkFailed when it is not completed
 */
async function makeReport(
  { api }: GantryClient,
  which: (typeof KINDS)[number],
  range: Range,
): Promise<number> {
  const { id } = await api.reports.generate.mutate({ ...which, ...range });
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    await sleep(LOOK_MS);
    const { status, error, rowCount } = await api.reports.getById.query({ id });
    if (status === 'DONE') return rowCount;
    if (status === 'FAILED' || status === 'CANCELLED' || performance.now() > deadline)
      throw new BenchmarkFailed(`The report of ${which.kind} is ${status}: ${error ?? 'it takes too long'}`);
  }
}

function figuresOf({ latencies }: Seen, seconds: number) {
  return {
    eventsPerSecond: latencies.length / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  };
}
