import { percentile } from '../percentile.ts';
import type { Load } from './load.ts';

/** The servers to compare, in the order of measurement. */
export const CONTESTANTS = {
  floor: 'bare node:http, no database',
  stock: 'stock tRPC, empty procedure',
  insert: 'tRPC + drizzle, an INSERT each',
  single: 'Gantry events.ingest',
  batch: 'Gantry events.ingestBatch',
} as const;
export type Contestant = keyof typeof CONTESTANTS;

/** The result of one run of one server. */
export interface Measurement {
  readonly contestant: Contestant;
  /** From 1. */
  readonly round: number;
  readonly requestsPerSecond: number;
  readonly eventsPerSecond: number;
  /** From request to answer, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** Average number of events committed together; null where there are no groups. */
  readonly groupSize: number | null;
  /** Resident memory of the server at the end of the run, in megabytes. */
  readonly memory: number;
  /** Processor time of the load generator per second. */
  readonly generatorLoad: number;
  /** Acknowledged events, including those outside the measured time. */
  readonly acknowledged: number;
}

/** Computes the figures of a run. */
export function measurementOf(
  load: Load,
  eventsPerRequest: number,
  about: Pick<Measurement, 'contestant' | 'round' | 'groupSize' | 'memory'>,
): Measurement {
  const requestsPerSecond = load.requests / load.seconds;
  return {
    ...about,
    requestsPerSecond,
    eventsPerSecond: requestsPerSecond * eventsPerRequest,
    p50: percentile(load.latencies, 0.5),
    p99: percentile(load.latencies, 0.99),
    p999: percentile(load.latencies, 0.999),
    generatorLoad: load.generatorLoad,
    acknowledged: load.acknowledged,
  };
}
