import { idleTransactions } from '../database.ts';
import { residentMegabytes } from '../metrics.ts';
import { percentile } from '../percentile.ts';
import type { Stage } from '../stage.ts';
import type { Seen } from './pacer.ts';

/** The figures of a period of some seconds. */
export interface Sample {
  /** Minutes since the start, at the end of the period. */
  readonly minute: number;
  readonly eventsPerSecond: number;
  /** Milliseconds from the due time of a request to its answer. */
  readonly p50: number;
  readonly p99: number;
  /** Delay of the latest request in milliseconds; if it is high, the machine was busy and latencies are unreliable. */
  readonly lateness: number;
  /** Resident memory of Gantry in megabytes. */
  readonly memory: number;
  /** Events that are waiting for their commit. */
  readonly queued: number;
  /** Connections that are idle in an open transaction. */
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
