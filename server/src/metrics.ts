import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** What Prometheus is told at /metrics. */
export interface Metrics {
  readonly registry: Registry;
  readonly requests: Counter<'procedure' | 'code'>;
  readonly requestSeconds: Histogram<'procedure'>;
  readonly events: Counter<'outcome'>;
  readonly groupSize: Histogram;
  readonly queuedEvents: Gauge;
}

/** A fresh set of metrics; one per service, so that several can live in one process. */
export const createMetrics = (): Metrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
    requests: new Counter({
      name: 'gantry_calls_total',
      help: 'Procedure calls by procedure and outcome (OK or error code)',
      labelNames: ['procedure', 'code'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'gantry_call_seconds',
      help: 'Time to answer a procedure call, in seconds',
      labelNames: ['procedure'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    events: new Counter({
      name: 'gantry_events_total',
      help: 'Events taken in, by outcome (stored, duplicate, refused)',
      labelNames: ['outcome'],
      registers,
    }),
    groupSize: new Histogram({
      name: 'gantry_commit_group_size',
      help: 'Events committed together',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
      registers,
    }),
    queuedEvents: new Gauge({
      name: 'gantry_queued_events',
      help: 'Events waiting for their commit',
      registers,
    }),
  };
};
