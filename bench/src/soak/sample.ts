import { idleTransactions } from '../database.ts';
import { residentMegabytes } from '../metrics.ts';
import { percentile } from '../percentile.ts';
import type { Stage } from '../stage.ts';
import type { Seen } from './pacer.ts';

/** What a stretch of some seconds showed. */
export interface Sample {
  /** Minutes since the start, at the end of the stretch. */
  readonly minute: number;
  readonly eventsPerSecond: number;
  /** Milliseconds from when a request was due to its answer. */
  readonly p50: number;
  readonly p99: number;
  /** Milliseconds by which the latest request left late: the machine was busy, and latencies say little. */
  readonly lateness: number;
  /** Resident memory of Gantry in megabytes. */
  readonly memory: number;
  /** Events that waited for their commit. */
  readonly queued: number;
  /** Connections that hold a transaction open and do nothing in it. */
  readonly idleInTransaction: number;
}

/** @param seen by the pacer in the last `seconds` */
export async function takeSample(
  { gantry, databaseUrl }: Stage,
  { minute, seconds, seen }: { minute: number; seconds: number; seen: Seen },
): Promise<Sample> {
  const { latencies, lateness } = seen;
  const metrics = await gantry.metrics();
  return {
    minute,
    eventsPerSecond: latencies.length / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    lateness,
    memory: residentMegabytes(metrics),
    queued: metrics.get('gantry_queued_events') ?? Number.NaN,
    idleInTransaction: await idleTransactions(databaseUrl),
  };
}
