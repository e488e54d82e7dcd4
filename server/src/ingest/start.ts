import { HOUR_MS } from '@gantry/contract/durations';
import { createPartitions } from '../events/partitions.ts';
import { startPeriodic } from '../platform/periodic.ts';
import type { Foundation } from '../platform/start.ts';
import { applyEffects, type EffectServices, hasEffects } from './effects.ts';
import type { EventTimes } from './enrich.ts';
import { FollowUp } from './follow-up.ts';
import { createKnownEvents, type KnownEvents } from './former-zones.ts';
import { RateLimits } from './rate-limits.ts';
import { EventWriter } from './writer.ts';

/** The services of ingestion that the application context contains. */
export interface IngestServices {
  readonly eventWriter: EventWriter;
  readonly eventTimes: EventTimes;
  readonly eventRates: RateLimits;
  readonly knownEvents: KnownEvents;
}

const PARTITION_CHECK_MS = HOUR_MS;

/**
 * @param others the services that the effects of events need
 * @param stored called after each commit of new events
 */
export async function startIngest(
  { core: { config, log, devices, nodes, metrics, clock, timings }, pools, resources }: Foundation,
  others: Omit<EffectServices, 'config'>,
  stored: () => void,
): Promise<IngestServices> {
  const partitions = createPartitions(pools.devices, clock.now);
  await partitions.ensureAhead();
  resources.use(
    startPeriodic({ everyMs: PARTITION_CHECK_MS, log, failure: 'next month has no partition yet' }, () =>
      partitions.ensureAhead(),
    ),
  );
  const parts = { config, ...others };
  // Closed after the writer, so that the last events are followed up too.
  const followUp = resources.use(
    new FollowUp({
      db: devices,
      nodes,
      log,
      timings,
      applyEffects: (tx, rows) => applyEffects(parts, tx, rows),
      reportLate: ({ events, oldestSeconds }) => {
        metrics.lateFollowUps.set(events);
        metrics.oldestFollowUpSeconds.set(oldestSeconds);
      },
    }),
  );
  const eventWriter = resources.use(
    new EventWriter({
      pool: pools.writer,
      partitions,
      metrics,
      log,
      timings,
      hasEffects: (row) => hasEffects(parts, row),
      stored,
      followUp: (rows) => followUp.add(rows),
    }),
  );
  return {
    eventWriter,
    eventTimes: { oldestDays: config.OLDEST_EVENT_DAYS ?? null, mayBeWrong: clock.mayBeWrong },
    eventRates: new RateLimits(config.EVENT_RATE_FACTOR),
    knownEvents: resources.use(createKnownEvents(pools.devices)),
  };
}
