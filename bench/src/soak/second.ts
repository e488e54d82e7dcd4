import type { Metrics } from '../metrics.ts';
import { percentile } from '../percentile.ts';
import type { MachineTimes } from '../processor-time.ts';
import type { Seen } from './pacer.ts';
import type { ServerActivity } from './server-probe.ts';

/** What happened in one second, for finding the causes of slow answers. */
export interface Second extends ServerActivity {
  /** Seconds since the start, at its end. */
  readonly second: number;
  readonly answered: number;
  /** Milliseconds from the due time of a request to its answer. */
  readonly p50: number;
  readonly p99: number;
  /** Maximum delay with which a request was sent, in milliseconds, caused by the generator or the machine. */
  readonly lateness: number;
  /** Processor time of the load generator per request, in microseconds. */
  readonly generator: number;
  /** The fraction of the time of all processors in which they were not idle. */
  readonly busy: number;
  /** The fraction in which they had work, but the host of this virtual machine ran something else (steal time). */
  readonly stolen: number;
  /** The slowest write of the disk probe, in milliseconds. */
  readonly disk: number;
  /** The longest delay of the event loop of the service, in milliseconds. */
  readonly loop: number;
  /** The total duration of garbage collections of the service, in milliseconds. */
  readonly collector: number;
}

/** Everything that was measured in that second. */
export interface Measured {
  readonly second: number;
  readonly seen: Seen;
  readonly disk: readonly number[];
  readonly server: ServerActivity;
  readonly times: MachineTimes;
  readonly timesBefore: MachineTimes;
  readonly metrics: Metrics;
  readonly metricsBefore: Metrics;
}

export function secondOf(measured: Measured): Second {
  const { second, seen, disk, server, times, timesBefore, metrics, metricsBefore } = measured;
  const total = times.total - timesBefore.total;
  return {
    second,
    answered: seen.latencies.length,
    p50: percentile(seen.latencies, 0.5),
    p99: percentile(seen.latencies, 0.99),
    lateness: seen.lateness,
    generator: seen.processorMicros / seen.latencies.length,
    busy: 1 - (times.idle - timesBefore.idle) / total,
    stolen: (times.stolen - timesBefore.stolen) / total,
    disk: Math.max(0, ...disk),
    // The service measures the maximum between two readings of its metrics.
    loop: (metrics.get('nodejs_eventloop_lag_max_seconds') ?? Number.NaN) * 1000,
    collector: (pauses(metrics) - pauses(metricsBefore)) * 1000,
    ...server,
  };
}

function pauses(metrics: Metrics): number {
  let sum = 0;
  for (const [name, value] of metrics) if (name.startsWith('nodejs_gc_duration_seconds_sum')) sum += value;
  return sum;
}
