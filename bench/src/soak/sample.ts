import { idleTransactions } from '../database.ts';
import { residentMegabytes } from '../metrics.ts';
import { percentile } from '../percentile.ts';
import type { Stage } from '../stage.ts';

/** What a stretch of some seconds showed. */
export interface Sample {
  /** Minutes since the start, at the end of the stretch. */
  readonly minute: number;
  readonly eventsPerSecond: number;
  /** Milliseconds from when a request was due to its answer. */
  readonly p50: number;
  readonly p99: number;
  /** Resident memory of Gantry in megabytes. */
  readonly memory: number;
  /** Events that waited for their commit. */
  readonly queued: number;
  /** Connections that hold a transaction open and do nothing in it. */
  readonly idleInTransaction: number;
}

/** @param latencies of the requests that were answered in the last `seconds`, ascending */
export const takeSample = async (
  { gantry, databaseUrl }: Stage,
  { minute, seconds, latencies }: { minute: number; seconds: number; latencies: Float64Array },
): Promise<Sample> => {
  const metrics = await gantry.metrics();
  return {
    minute,
    eventsPerSecond: latencies.length / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    memory: residentMegabytes(metrics),
    queued: metrics.get('gantry_queued_events') ?? Number.NaN,
    idleInTransaction: await idleTransactions(databaseUrl),
  };
};
