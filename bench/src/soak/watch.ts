import { MINUTE_MS } from '@gantry/contract/durations';
import { BenchmarkFailed } from '../failure.ts';
import { readMachineTimes } from '../processor-time.ts';
import type { Stage } from '../stage.ts';
import type { DiskProbe } from './disk-probe.ts';
import type { Pacer, Seen } from './pacer.ts';
import { type Sample, takeSample } from './sample.ts';
import { type Second, secondOf } from './second.ts';
import type { ServerProbe } from './server-probe.ts';

export interface WatchOptions {
  readonly minutes: number;
  /** Seconds between samples, a whole number. */
  readonly every: number;
  readonly signal: AbortSignal;
  readonly onSample: (sample: Sample) => void;
  /** Called with the seconds recorded so far when the load fails, or the run is stopped. */
  readonly onBrokenOff: (seconds: readonly Second[]) => void;
}

export interface Watched {
  readonly samples: readonly Sample[];
  readonly seconds: readonly Second[];
}

const LOOK_MS = 100;

/**
 * Records every second of the load, and takes samples of longer periods.
 * @throws BenchmarkFailed when the load fails, or the run is stopped
 */
export async function watch(
  { gantry, databaseUrl }: Stage,
  { pacer, disk, server }: { pacer: Pacer; disk: DiskProbe; server: ServerProbe },
  { minutes, every, signal, onSample, onBrokenOff }: WatchOptions,
): Promise<Watched> {
  const samples: Sample[] = [];
  const seconds: Second[] = [];
  const check = (): void => {
    try {
      pacer.check();
      if (signal.aborted) throw new BenchmarkFailed('Stopped');
    } catch (error) {
      onBrokenOff(seconds);
      throw error;
    }
  };
  const started = performance.now();
  let sampledAt = started;
  let seen: Seen[] = [];
  let writes: number[] = [];
  let metricsBefore = await gantry.metrics();
  let timesBefore = await readMachineTimes();
  for (let second = 1; second <= minutes * 60; second++) {
    await pauseUntil(started + second * 1000, check);
    const now = performance.now();
    const measured = { seen: pacer.take(), disk: await disk.take(), server: await server.take() };
    const metrics = await gantry.metrics();
    const times = await readMachineTimes();
    seconds.push(secondOf({ second, ...measured, times, timesBefore, metrics, metricsBefore }));
    [metricsBefore, timesBefore] = [metrics, times];
    seen.push(measured.seen);
    writes.push(...measured.disk);
    if (second % every !== 0) continue;
    const minute = (now - started) / MINUTE_MS;
    const sample = await takeSample(databaseUrl, {
      minute,
      seconds: (now - sampledAt) / 1000,
      seen,
      disk: writes,
      metrics,
    });
    [sampledAt, seen, writes] = [now, [], []];
    onSample(sample);
    samples.push(sample);
  }
  return { samples, seconds };
}

async function pauseUntil(moment: number, look: () => void): Promise<void> {
  for (let left = moment - performance.now(); left > 0; left = moment - performance.now()) {
    look();
    await new Promise((resolve) => setTimeout(resolve, Math.min(LOOK_MS, left)));
  }
}
