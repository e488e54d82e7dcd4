import { idleTransactions } from '../database.ts';
import { type Metrics, residentMegabytes } from '../metrics.ts';
import { percentile } from '../percentile.ts';
import type { Seen } from './pacer.ts';

/** The figures of a period of some seconds. */
export interface Sample {
  /** Minutes since the start, at the end of the period. */
  readonly minute: number;
  readonly eventsPerSecond: number;
  /** Milliseconds from the due time of a request to its answer. */
  readonly p50: number;
  readonly p99: number;
  /** The p99 of bare writes to the disk, in milliseconds. */
  readonly disk: number;
  /** Maximum delay with which a request was sent, in milliseconds. If it is high, the machine was busy, and latencies are unreliable. */
  readonly lateness: number;
  /**
   * Processor time of the load generator per request, in microseconds. It does the same in every period, so a higher
   * value means that the machine is slower: its host has made it share a processor core, or a cache.
   */
  readonly generator: number;
  /** Resident memory of Gantry in megabytes. */
  readonly memory: number;
  /** Events that are waiting for their commit. */
  readonly queued: number;
  /** Connections that are idle in an open transaction. */
  readonly idleInTransaction: number;
}

/** The measurements of a period. */
export interface Period {
  /** Minutes since the start, at its end. */
  readonly minute: number;
  readonly seconds: number;
  readonly seen: readonly Seen[];
  /** Duration of each write of the disk probe, in milliseconds. */
  readonly disk: readonly number[];
  /** The metrics at its end. */
  readonly metrics: Metrics;
}

export async function takeSample(
  databaseUrl: string,
  { minute, seconds, seen, disk, metrics }: Period,
): Promise<Sample> {
  const latencies = together(seen);
  return {
    minute,
    eventsPerSecond: latencies.length / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    disk: percentile(Float64Array.from(disk).sort(), 0.99),
    lateness: Math.max(...seen.map(({ lateness }) => lateness)),
    generator: seen.reduce((sum, { processorMicros }) => sum + processorMicros, 0) / latencies.length,
    memory: residentMegabytes(metrics),
    queued: metrics.get('gantry_queued_events') ?? Number.NaN,
    idleInTransaction: await idleTransactions(databaseUrl),
  };
}

/** All latencies, ascending. */
function together(seen: readonly Seen[]): Float64Array {
  const all = new Float64Array(seen.reduce((sum, { latencies }) => sum + latencies.length, 0));
  let at = 0;
  for (const { latencies } of seen) {
    all.set(latencies, at);
    at += latencies.length;
  }
  return all.sort();
}
