import { percentile } from '../percentile.ts';
import type { ProcessorUse } from '../processor-time.ts';
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
export interface Measurement extends ProcessorUse {
  readonly contestant: Contestant;
  /** The number of processes of Gantry; null for other servers. */
  readonly workers: number | null;
  /** From 1. */
  readonly round: number;
  readonly requestsPerSecond: number;
  readonly eventsPerSecond: number;
  /** From request to answer, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** Average number of events committed together; null for other servers than Gantry. */
  readonly groupSize: number | null;
  /** Resident memory of the server at the end of the run, in megabytes. */
  readonly memory: number;
  /** Processor time of the load generator in seconds per second. */
  readonly generatorLoad: number;
  /** Processor time of the load generator per event, in microseconds. */
  readonly generatorMicros: number;
  /** Acknowledged events, including those outside the measured time. */
  readonly acknowledged: number;
}

/** Computes the figures of a run. */
export function measurementOf(
  load: Load,
  eventsPerRequest: number,
  about: Pick<Measurement, 'contestant' | 'workers' | 'round' | 'groupSize' | 'memory'>,
): Measurement {
  const requestsPerSecond = load.requests / load.seconds;
  const eventsPerSecond = requestsPerSecond * eventsPerRequest;
  return {
    ...about,
    ...load.used,
    requestsPerSecond,
    eventsPerSecond,
    p50: percentile(load.latencies, 0.5),
    p99: percentile(load.latencies, 0.99),
    p999: percentile(load.latencies, 0.999),
    generatorLoad: load.generatorLoad,
    generatorMicros: (load.generatorLoad * 1e6) / eventsPerSecond,
    acknowledged: load.acknowledged,
  };
}
